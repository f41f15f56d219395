package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/webhook"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestNotify checks that the operator gets notices of a reader's report and of an administrator made by command.
func TestNotify(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	events := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seconds, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get(webhook.SignatureHeader), "t="), ",")
		at, err := time.Parse(time.RFC3339, "1970-01-01T00:00:00Z")
		if since, parseErr := time.ParseDuration(seconds + "s"); err == nil && parseErr == nil {
			at = at.Add(since)
		}
		if r.Header.Get(webhook.SignatureHeader) != webhook.Sign("hunter2", at, body) {
			t.Errorf("got the headers %v, want a signature of %s", r.Header, body)
		}
		var fields map[string]string
		_ = json.Unmarshal(body, &fields)
		events <- fields["event"] + " " + fields["subject"]
	}))
	defer receiver.Close()
	settings := []string{
		"GLUEPOT_NOTIFY_URL=" + receiver.URL + "/hidden", "GLUEPOT_NOTIFY_SECRET=hunter2", "GLUEPOT_DATABASE_URL=" + cfg.URL,
	}
	server := program.Serve(t, cfg.URL, append(settings, "GLUEPOT_REPORTS=true")...)
	wantEvent := func(want string) {
		t.Helper()
		select {
		case got := <-events:
			if !strings.HasPrefix(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Errorf("got nothing, want %q", want)
		}
	}
	_, body := exchange(t, server, http.MethodPost, "/raw", "\ncode")
	link := strings.TrimSpace(body)
	id := link[strings.LastIndexByte(link, '/')+1:]
	form := url.Values{"reason": {"spam"}, "text": {"An advertisement."}}
	answer, page := roundTrip(t, server, http.MethodPost, "/"+id+"/report", form.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	if answer.StatusCode >= 400 {
		t.Fatalf("got %d %.300s, want the report accepted", answer.StatusCode, page)
	}
	wantEvent("report.new " + id)

	if code, _, stderr := program.Run(t, settings, "user", "create", "mia", "--admin"); code != 0 || stderr != "" {
		t.Errorf("got exit code %d and %q, want 0 and no output", code, stderr)
	}
	wantEvent("administrator.new mia (")

	receiver.Close() // commands still work
	if code, stdout, stderr := program.Run(t, settings, "user", "create", "bob", "--admin"); code != 0 ||
		!strings.HasPrefix(stdout, "Created the user bob") || strings.Contains(stderr, "hidden") ||
		!strings.Contains(stderr, "GLUEPOT_NOTIFY_URL did not accept the last notices; lost: 1") {
		t.Errorf("without a receiver: got exit code %d, %q and %q, want 0 and the user created", code, stdout, stderr)
	}
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 || strings.Contains(server.Stderr.String(), "hidden") {
		t.Errorf("got exit code %d, want 0 and no URL in the log", code)
	}
}

// TestReceiverHarmsNothing uses receivers that hang, redirect endlessly, answer endlessly, or do not exist. The server
// must still accept reports, even before the receiver has answered the first notice, and stop.
func TestReceiverHarmsNothing(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]func(w http.ResponseWriter, r *http.Request, release <-chan struct{}){
		"hangs": func(_ http.ResponseWriter, _ *http.Request, release <-chan struct{}) { <-release },
		"redirects": func(w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
			http.Redirect(w, r, r.URL.Path, http.StatusPermanentRedirect)
		},
		"answers without end": func(w http.ResponseWriter, r *http.Request, release <-chan struct{}) {
			for chunk := make([]byte, 64<<10); r.Context().Err() == nil; {
				select {
				case <-release:
					return
				default:
					_, _ = w.Write(chunk)
				}
			}
		},
		"does not exist": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests, release := make(chan struct{}, 100), make(chan struct{})
			receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests <- struct{}{}
				answers(w, r, release)
			}))
			defer receiver.Close()
			defer close(release)
			if answers == nil {
				receiver.Close()
			}
			cfg := database.SQLite(t)
			program.Fixture(t, cfg)
			server := program.Serve(t, cfg.URL, "GLUEPOT_REPORTS=true", "GLUEPOT_NOTIFY_URL="+receiver.URL)
			_, link := exchange(t, server, http.MethodPost, "/raw", "\ncode")
			path := strings.TrimSpace(link[strings.LastIndexByte(link, '/'):]) + "/report"
			for n := range 5 {
				answer, page := roundTrip(t, server, http.MethodPost, path, "reason=spam&text=An+advertisement.",
					"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
				if answer.StatusCode >= 400 {
					t.Fatalf("got %d %.300s, want the report accepted", answer.StatusCode, page)
				}
				if n == 0 && answers != nil {
					<-requests
				}
			}
			server.Signal(syscall.SIGTERM)
			if code := server.Wait(); code != 0 {
				t.Errorf("got exit code %d, want 0", code)
			}
		})
	}
}
