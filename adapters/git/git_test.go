package git

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/fake"
)

// withoutContent wants no paste to be read whole.
type withoutContent struct {
	fake.Pastes

	t *testing.T
}

func (w withoutContent) ReadDocument(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	w.t.Errorf("got the paste %s read whole, want only what decides who may read it", id)
	return w.Pastes.ReadDocument(ctx, id, reader)
}

// TestAdvertiseReadsNoContent begins a clone with version 2 of the protocol. The first request claims no memory and
// waits for no slot, so it must not read what may be long.
func TestAdvertiseReadsNoContent(t *testing.T) {
	t.Parallel()
	store := withoutContent{fake.Pastes{Store: new(fake.Store)}, t}
	use := pastes.New(store, nil, pastes.Options{Rules: paste.Rules{
		Limits: paste.DefaultLimits(), NewID: ident.New,
		Language: func(string, string, string) (string, bool) { return "Go", true },
	}}, time.Now)
	code := "package main\n"
	created, err := use.Create.Do(t.Context(), audit.Operator(), "",
		paste.Draft{Pasties: []paste.PastyDraft{{Code: &code}}})
	if err != nil {
		t.Fatal(err)
	}
	g := New(Modules{Pastes: use})
	for id, want := range map[paste.ID]int{created.ID: http.StatusOK, "unknown0": http.StatusUnauthorized} {
		r := httptest.NewRequest(http.MethodGet, "/"+string(id)+".git/info/refs?service=git-upload-pack", nil)
		r.SetPathValue("id", string(id)+Suffix)
		r.Header.Set("Git-Protocol", "version=2")
		w := httptest.NewRecorder()
		_, _, err := g.advertise(w, r)
		if err != nil || w.Code != want || want == http.StatusOK && !strings.Contains(w.Body.String(), "version 2") {
			t.Errorf("%s: got %d %.200s, %v, want %d", id, w.Code, w.Body, err, want)
		}
	}
}
