package client

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestParseServer(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://paste.example":             "https://paste.example",
		"https://Paste.Example:443/":        "https://paste.example",
		"http://paste.example:80/base/":     "http://paste.example/base",
		"https://paste.example:":            "https://paste.example",
		"https://paste.example:80":          "https://paste.example:80",
		"http://[::443]":                    "http://[::443]",
		"http://[fe80::1%25eth0]:80":        "http://[fe80::1%25eth0]",
		"http://[2001:db8::1]:80":           "http://[2001:db8::1]",
		"ftp://paste.example":               "",
		"https://user:secret@paste.example": "",
		"https://paste.example?x":           "",
		"https://:443":                      "",
	} {
		s, err := parseServer(address)
		if err == nil && s.String() != want || err != nil && want != "" {
			t.Errorf("%s: got %v, error %v, want %q", address, s, err, want)
		}
	}
}

func TestLinkWithZone(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv(EnvServer, "")
	s, id, err := new(Commands).target("", "http://[fe80::1%25eth0]:8080/base/paste/abcdefgh")
	if err != nil || s.String() != "http://[fe80::1%25eth0]:8080/base" || id != "abcdefgh" {
		t.Errorf("got %v, %s, error %v, want the server and the id of the link", s, id, err)
	}
}

// TestLinks reads links to servers that are at the root of their host and below a path.
func TestLinks(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct{ server, link, wantServer, wantID string }{
		{"", "https://h.example/k2j4x8m1", "https://h.example", "k2j4x8m1"},
		{"", "https://h.example/k2j4x8m1/raw/p0000000", "https://h.example", "k2j4x8m1"},
		{"", "https://h.example/api/v2/raw/k2j4x8m1", "https://h.example/api/v2", "k2j4x8m1"},
		{"", "https://h.example/bin/k2j4x8m1/history", "https://h.example/bin", "k2j4x8m1"},
		{"https://h.example/paste", "https://h.example/paste/k2j4x8m1", "https://h.example/paste", "k2j4x8m1"},
		{"https://h.example/paste", "https://h.example/paste/paste/k2j4x8m1", "https://h.example/paste", "k2j4x8m1"},
		{"https://h.example/snippets", "https://h.example/snippets/k2j4x8m1", "https://h.example/snippets", "k2j4x8m1"},
		{"https://h.example/bin/api/v2", "https://h.example/bin/k2j4x8m1", "https://h.example/bin/api/v2", "k2j4x8m1"},
	} {
		t.Run(c.server+" "+c.link, func(t *testing.T) {
			t.Setenv(EnvServer, c.server)
			s, id, err := new(Commands).target("", c.link)
			if err != nil || s.String() != c.wantServer || id != c.wantID {
				t.Errorf("got %v, %s, error %v, want %s, %s", s, id, err, c.wantServer, c.wantID)
			}
		})
	}
}

// TestStalledServer uses servers that stall before their answer, and in the middle of it.
func TestStalledServer(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w http.ResponseWriter){
		"before": func(http.ResponseWriter) {},
		"in it": func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"_id":`)
			_ = http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				begin(w)
				<-r.Context().Done()
			}))
			defer server.Close()
			s, err := parseServer(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			s.patience = 50 * time.Millisecond
			if _, err := s.read(t.Context(), "abcdefgh"); !strings.Contains(fmt.Sprint(err), errStalled.Error()) {
				t.Errorf("got %v, want errStalled", err)
			}
		})
	}
}

// TestSlowServer reads for ten minutes, and waits for less than a minute each time.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stalled := false
		timer := time.AfterFunc(patience, func() { stalled = true })
		defer timer.Stop()
		r, w := io.Pipe()
		go func() {
			for range 10 {
				time.Sleep(patience - time.Second)
				_, _ = io.WriteString(w, "x")
			}
			_ = w.Close()
		}()
		text, err := io.ReadAll(moving{r, timer, patience})
		if string(text) != "xxxxxxxxxx" || err != nil || stalled {
			t.Errorf("got %q, %v, stalled: %v, want ten bytes and no stall", text, err, stalled)
		}
	})
}
