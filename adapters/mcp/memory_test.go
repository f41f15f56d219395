package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/route"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/fake"
)

// answer is an http.ResponseWriter that buffers the body as the router does.
type answer struct {
	header http.Header
	body   bytes.Buffer
}

func (w *answer) Header() http.Header         { return w.header }
func (*answer) WriteHeader(int)               {}
func (w *answer) Write(p []byte) (int, error) { return w.body.Write(p) }

// TestReadClaimsItsMemory reads texts that JSON makes longer, and checks that the read claims all memory that it
// allocates.
func TestReadClaimsItsMemory(t *testing.T) { //nolint:paralleltest // others would allocate, too
	store := fake.Pastes{Store: new(fake.Store)}
	s := Server{Pastes: pastes.New(store, nil, pastes.Options{Rules: paste.Rules{
		Limits: paste.DefaultLimits(), NewID: ident.New,
		Language: func(string, string, string) (string, bool) { return "Go", true },
	}}, time.Now)}
	visitor := audit.By(token.Viewer{}, netip.Addr{})
	ask := func(message, id string) (text []byte, allocated, claimed int64) {
		body := fmt.Sprintf(message, id)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w, from := &answer{header: make(http.Header)}, route.Sender{
			Body: []byte(body), Actor: visitor, Link: func(id paste.ID) string { return "/" + string(id) },
			Hold: func(bytes int64) error { claimed = bytes; return nil }, Told: func(error) {},
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.Endpoint().Post(w, r, from)
		runtime.ReadMemStats(&after)
		return w.body.Bytes(), int64(after.TotalAlloc - before.TotalAlloc), claimed
	}
	for _, unit := range []string{"x", "<", "\x01", "\"", "\n", "\u2028", "é", "\tif a < b && c {\n"} {
		code := strings.Repeat(unit, 256<<10/len(unit))
		created, err := s.Pastes.CreateOwn.Do(t.Context(), visitor, paste.Draft{Pasties: []paste.PastyDraft{{Code: &code}}})
		if err != nil {
			t.Fatal(err)
		}
		for what, message := range map[string]string{
			"tool":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_paste","arguments":{"id":"%s"}}}`,
			"resource": `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"paste://%s"}}`,
		} {
			t.Run(fmt.Sprintf("%s %q", what, unit), func(t *testing.T) {
				_, without, _ := ask(message, "unknown0")
				text, allocated, claimed := ask(message, string(created.ID))
				t.Logf("%d bytes for an answer of %d, %d claimed", allocated-without, len(text), claimed)
				if !json.Valid(text) || len(text) < len(code) {
					t.Errorf("got %.300s, want the text", text)
				}
				if allocated-without > claimed {
					t.Errorf("got %d bytes allocated, want at most the %d claimed", allocated-without, claimed)
				}
			})
		}
	}
}
