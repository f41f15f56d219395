package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// packing is a browser that takes gzip.
type packing struct {
	*http.Client

	t      *testing.T
	origin string
}

// ask sends a request, and returns the coding and the body of its answer, as it is sent.
func (p *packing) ask(method, path string, form url.Values) (coding string, body []byte) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header = http.Header{
		"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"},
		"Accept-Encoding": {"gzip, deflate, br"},
		"Sec-Fetch-Site":  {"same-origin"},
	}
	answer, err := p.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	if body, err = io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: got %s, %v, want 200", path, answer.Status, err)
	}
	return answer.Header.Get("Content-Encoding"), body
}

// TestCompressedPages creates a paste with a browser that accepts gzip: its page and what that loads are compressed,
// unless the page shows the delete key. So is the page of access tokens, unless it shows a new one.
func TestCompressedPages(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	jar, _ := cookiejar.New(nil) // never fails
	browser := &packing{
		Client: &http.Client{Timeout: program.Patience, Jar: jar, Transport: &http.Transport{DisableCompression: true}},
		t:      t, origin: "http://" + program.Serve(t, cfg.URL).Address,
	}
	code := strings.Repeat("\tif n, err := fmt.Fprintf(w, \"%d of %s\", 12, name); err != nil { return n, err }\n", 25)
	created := url.Values{"title": {"A"}, "name": {"main.go"}, "language": {"Go"}, "code": {code}, "expires": {"1d"},
		"do": {"save"}}
	coding, page := browser.ask(http.MethodPost, "/", created)
	if coding != "" || !strings.Contains(string(page), "can delete it") {
		t.Errorf("got coding %q and %.200s, want the page with the delete key as it is", coding, page)
	}
	_, id, _ := strings.Cut(string(page), `href="/`)
	for !strings.HasPrefix(id[min(8, len(id)):], "/fork") {
		var ok bool
		if _, id, ok = strings.Cut(id, `href="/`); !ok {
			t.Fatalf("got %s, want a link to the paste", page)
		}
	}
	coding, packed := browser.ask(http.MethodGet, "/"+id[:8], nil)
	if coding != "gzip" || len(packed) > len(page)*4/10 {
		t.Errorf("got %d bytes in coding %q of %d, want at most 40 %%", len(packed), coding, len(page))
	}
	t.Logf("the page of 2 KiB of Go: %d bytes, compressed %d", len(page), len(packed))
	_, style, _ := strings.Cut(string(page), `rel="stylesheet" href="`)
	style, _, _ = strings.Cut(style, `"`)
	if coding, packed := browser.ask(http.MethodGet, style, nil); coding != "gzip" || len(packed) > 8<<10 {
		t.Errorf("%s: got %d bytes in coding %q, want it compressed", style, len(packed), coding)
	}

	browser.ask(http.MethodPost, "/sign-in", url.Values{"token": {program.EpoxyToken}})
	if coding, _ := browser.ask(http.MethodGet, "/account/tokens", nil); coding != "gzip" {
		t.Errorf("got coding %q of the list of tokens, want gzip", coding)
	}
	form := fromOwnPage("/account/tokens", url.Values{"name": {"a"}, "scope": {"read"}, "days": {"7"}},
		func(path string) string {
			_, packed := browser.ask(http.MethodGet, path, nil)
			return unpacked(t, packed)
		})
	coding, page = browser.ask(http.MethodPost, "/account/tokens", form)
	if coding != "" || !strings.Contains(string(page), "not shown again") {
		t.Errorf("got coding %q and %.200s, want the page with the token as it is", coding, page)
	}
}

// unpacked returns what gzip has compressed.
func unpacked(t *testing.T, packed []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
