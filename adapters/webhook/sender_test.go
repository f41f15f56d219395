package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gluepot/gluepot/domain/notice"
)

const patience = time.Minute

// report is the notice that these tests send.
var report = notice.Notice{
	Event: notice.NewReport, At: time.Date(2026, 11, 28, 15, 0, 0, 0, time.UTC), Subject: "k2j4x8m1",
	Text: "A reader has reported it.",
}

// startSender returns a sender to a receiver, without pauses between attempts.
func startSender(t *testing.T, receiver http.HandlerFunc) (*Sender, *observer.ObservedLogs) {
	t.Helper()
	server := httptest.NewServer(receiver)
	t.Cleanup(server.Close)
	s := New(Config{URL: server.URL + "/hidden", Secret: "hunter2"})
	s.pauses = []time.Duration{0, 0, 0}
	core, lines := observer.New(zapcore.DebugLevel)
	s.Start(zap.New(core))
	return s, lines
}

func TestNotice(t *testing.T) {
	t.Parallel()
	type delivery struct {
		header http.Header
		body   []byte
	}
	got := make(chan delivery, 10)
	s, lines := startSender(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- delivery{r.Header, body}
	})
	s.Notify(report)
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	r := <-got
	var fields map[string]string
	if err := json.Unmarshal(r.body, &fields); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	if fields["event"] != "report.new" || fields["subject"] != "k2j4x8m1" || fields["at"] != "2026-11-28T15:00:00Z" ||
		fields["text"] != report.Text || fields["id"] == "" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("got %s, %v, want the notice", r.body, r.header)
	}
	at, signature, ok := strings.Cut(strings.TrimPrefix(r.header.Get(SignatureHeader), "t="), ",v1=")
	mac := hmac.New(sha256.New, []byte("hunter2"))
	mac.Write([]byte(at + "." + string(r.body)))
	if !ok || signature != hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("got %s, want the signature of the time and the body", r.header.Get(SignatureHeader))
	}
	if lines.Len() > 0 || len(got) > 0 {
		t.Errorf("got %v and %d more requests, want neither", lines.All(), len(got))
	}
}

// TestRepeated checks that the same notice is sent again until it is accepted or given up, and that redirects are not
// followed.
func TestRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails, attempts int32 // of the receiver
		answer          http.HandlerFunc
		level           zapcore.Level // of the last line
	}{
		"an error, then success": {2, 3, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
		}, zapcore.WarnLevel},
		"errors": {99, 4, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}, zapcore.ErrorLevel},
		"redirects": {99, 4, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, zapcore.ErrorLevel},
		"cut off": {99, 4, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, zapcore.ErrorLevel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var attempts atomic.Int32
			ids := make(chan string, 100)
			s, lines := startSender(t, func(w http.ResponseWriter, r *http.Request) {
				var fields map[string]string
				_ = json.NewDecoder(r.Body).Decode(&fields)
				ids <- fields["id"]
				if r.URL.Path != "/hidden" {
					t.Errorf("got a request for %s, want no redirect to be followed", r.URL)
				}
				if attempts.Add(1) <= c.fails {
					c.answer(w, r)
				}
			})
			s.Notify(report)
			failures := min(c.fails, c.attempts) // each of them is logged
			for deadline := time.Now().Add(patience); attempts.Load() < c.attempts ||
				lines.Len() < int(failures); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("got %d attempts and %d lines, want %d and %d", attempts.Load(), lines.Len(), c.attempts, failures)
				}
			}
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			if got := attempts.Load(); got != c.attempts {
				t.Errorf("got %d attempts, want %d", got, c.attempts)
			}
			first := <-ids
			for range c.attempts - 1 {
				if id := <-ids; id != first || id == "" {
					t.Errorf("got the id %q, want %q again", id, first)
				}
			}
			all := lines.All()
			if len(all) == 0 || all[len(all)-1].Level != c.level {
				t.Errorf("got %v, want the last line of the level %v", all, c.level)
			}
			for _, line := range all {
				if text := line.Message + strings.ReplaceAll(strings.Join(values(line), " "), `\`,
					""); strings.Contains(text, "hidden") {
					t.Errorf("got %s, want nothing of the URL", text)
				}
			}
		})
	}
}

// values returns the fields of a line as text.
func values(line observer.LoggedEntry) (texts []string) {
	encoder := zapcore.NewMapObjectEncoder()
	for _, field := range line.Context {
		field.AddTo(encoder)
	}
	text, _ := json.Marshal(encoder.Fields)
	return []string{string(text)}
}

// TestEndlessAnswer uses a receiver that answers without end: only the status is read.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	s, lines := startSender(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(closed)
		for chunk := make([]byte, 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	s.Notify(report)
	if err := s.Stop(); err != nil || lines.Len() > 0 {
		t.Errorf("got %v and %v, want no error and no log line", err, lines.All())
	}
	select {
	case <-closed:
	case <-time.After(patience):
		t.Error("got the connection still open, want it closed")
	}
}

// TestDeadReceiver checks that no caller waits, that the backlog is bounded, and that the stop ends and says what is
// lost.
func TestDeadReceiver(t *testing.T) {
	t.Parallel()
	release, requests := make(chan struct{}), make(chan struct{}, 1)
	s, lines := startSender(t, func(http.ResponseWriter, *http.Request) {
		requests <- struct{}{}
		<-release
	})
	defer close(release)
	s.Notify(report)
	<-requests // it hangs
	for range backlog + 50 {
		s.Notify(report)
	}
	if got := lines.FilterMessageSnippet("dropped").Len(); got != 50 {
		t.Errorf("got %d notices dropped, want 50", got)
	}
	if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "lost: 101") {
		t.Errorf("got %v, want it to say that 101 are lost", err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for url, valid := range map[string]bool{
		"": true, "https://hooks.example/x?y=z": true, "http://10.0.0.1:9000": true, // an operator's private network
		"hooks.example": false, "ftp://hooks.example": false, "https://": false, "https://a b": false,
	} {
		err := Config{URL: url}.Validate()
		if (err == nil) != valid || err != nil && strings.Contains(err.Error(), "hooks") {
			t.Errorf("%q: got %v, want it valid: %v, and not quoted", url, err, valid)
		}
	}
	if err := (Config{Secret: "hunter2"}).Validate(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want a secret without a URL refused", err)
	}
}
