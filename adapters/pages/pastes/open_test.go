package pastes_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/pastes"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestBurning asks before it opens a paste, and shows it once. The question holds nothing of the paste.
func TestBurning(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	path := s.Lands("/", visit.Form{
		"title", "secret title", "burn", "on", "expires", "never", "name", "secret.go", "language", "Go", "code",
		"package secret\n",
	})
	if stored := s.Stored(path); !stored.Burns || stored.Lifetime != paste.Never {
		t.Errorf("got %+v, want one that burns", stored)
	}
	for range 2 { // a preview, a crawler, a browser that prefetches
		answer, err := s.Get(path)
		if err != nil || answer.Code != http.StatusOK || answer.Header().Get("X-Robots-Tag") != "noindex" {
			t.Fatalf("got %v, %d %v, want a question that is not listed", err, answer.Code, answer.Header())
		}
		visit.WantIn(t, answer.Body.String(), "can be read once", `method="post" action="`+path+`/open"`)
		if strings.Contains(answer.Body.String(), "secret") {
			t.Errorf("got %s, want nothing of the paste", answer.Body)
		}
	}
	for _, below := range []string{"/history", "/files.zip", "/open/x", "/raw/x", "/download/x", "/edit"} {
		if answer, err := s.Get(path + below); err == nil && answer.Code == http.StatusOK {
			t.Errorf("%s: got %s, want nothing", below, answer.Body)
		}
	}
	answer, err := s.Posts(path+"/open", visit.Form{"do", "open"})
	if err != nil || answer.Header().Get("Cache-Control") != "private, no-store" {
		t.Fatalf("got %v, %v, want the paste, in no cache", err, answer.Header())
	}
	page := answer.Body.String()
	visit.WantIn(t, page, "secret title", "secret.go", "has been deleted")
	visit.WantNotIn(t, page, "never expires")
	for _, gone := range []string{"/download/", "/raw/", "/history", "/edit"} {
		if strings.Contains(page, path+gone) {
			t.Errorf("got a link to %s, want none: it is gone", gone)
		}
	}
	for range 2 {
		if answer, err := s.Posts(path+"/open", visit.Form{"do", "open"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v, %s when it is opened again, want nothing", err, answer.Body)
		}
	}
	if answer, err := s.Get(path); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, %s after it, want nothing", err, answer.Body)
	}
	// a tab that is opened again
	if answer, err := s.Get(path + "/open"); err != nil || answer.Header().Get("Location") != path {
		t.Errorf("got %v, %v, want to be led to the paste's page", err, answer.Header())
	}
}

// TestBurningAnonymously leaves the browser that has created the paste a way to delete it before it is read.
func TestBurningAnonymously(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	created, err := s.Posts("/", visit.Form{"burn", "on", "code", "x"})
	if err != nil || len(created.Result().Cookies()) != 2 {
		t.Fatalf("got %v, %v, want a paste and its key in a cookie", err, created.Header())
	}
	path, kept := created.Header().Get("Location"), created.Result().Cookies()[0]
	key := strings.TrimPrefix(kept.Value, site.UnseenKey)
	for below, wanted := range map[string][]string{"": {key, `href="` + path + `/delete">Elsewhere`},
		"/delete": {"Delete"}} {
		r := s.Asking(http.MethodGet, path+below, "", nil)
		r.AddCookie(kept)
		answer, err := s.Answers(r)
		if err != nil {
			t.Fatalf("%q: got %v", below, err)
		}
		visit.WantIn(t, answer.Body.String(), wanted...)
	}
}

// TestBurningLong shows all of a paste that is gone, however long it is.
func TestBurningLong(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	long := visit.Content(paste.Pasty{Language: "Plain Text", Code: strings.Repeat("x", site.MaxShownBytes) + "the end"})
	long.Burns = true
	s.Holds("k2j4x8m1", long)
	answer, err := s.Posts("/k2j4x8m1/open", visit.Form{"do", "open"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(answer.Body.String(), "the end") {
		t.Error("got a part of it, want all")
	}
}

// TestBurningWithoutRoom has so many large pages under way that there is no place for another one: what cannot be shown
// must not burn.
func TestBurningWithoutRoom(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	long := visit.Content(paste.Pasty{Language: "Plain Text", Code: strings.Repeat("x", pastes.LargePage)})
	long.Burns = true
	s.Holds("k2j4x8m1", long)
	for range cap(s.Large.Places) {
		s.Large.Places <- struct{}{}
	}
	if answer, err := s.Posts("/k2j4x8m1/open", visit.Form{"do", "open"}); err != nil {
		s.Stored("/k2j4x8m1") // fails when it is gone
	} else {
		visit.WantIn(t, answer.Body.String(), "has been deleted")
	}
}

// TestBurningOfOwner shows the paste to its owner until another reader opens it.
func TestBurningOfOwner(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	owner := s.User("epoxy", true)
	_, s.Secret = s.Session("epoxy")
	document := visit.Content(paste.Pasty{Title: "secret.go", Code: "x"})
	document.Owner, document.Burns = owner, true
	s.Holds("k2j4x8m1", document)
	visit.WantIn(t, s.Page("/k2j4x8m1"), "secret.go", "burns after reading", `href="/k2j4x8m1/edit"`)
	visit.WantIn(t, s.Page("/k2j4x8m1"), `href="/k2j4x8m1/raw/pasty000"`) // the interface for programs wants a token
	visit.WantIn(t, s.Page(site.PathPastes), "burns after reading")
	for _, refused := range []string{"/fork", "/star"} {
		if answer, err := s.Posts("/k2j4x8m1"+refused, visit.Form{"do", "star"}); err == nil {
			t.Errorf("%s: got %d, want it refused", refused, answer.Code)
		}
	}
	s.Secret = ""
	if page := s.Page("/~epoxy"); strings.Contains(page, "k2j4x8m1") {
		t.Errorf("got %s, want it not on the profile", page)
	}
}
