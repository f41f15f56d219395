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

// TestBurning checks that a page asks before it opens a paste, shows nothing of it before, and opens it once.
func TestBurning(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	path := s.Lands("/", visit.Form{
		"title", "secret title", "burn", "on", "expires", "never", "name", "secret.go", "language", "Go", "code",
		"package secret\n",
	})
	if got := s.Stored(path); !got.Burns || got.Lifetime != paste.Never {
		t.Errorf("got %+v, want one that burns", got)
	}
	for range 2 { // a preview, a crawler, a browser that prefetches
		answer, err := s.Get(path)
		if err != nil || answer.Code != http.StatusOK || answer.Header().Get("X-Robots-Tag") != "noindex" {
			t.Fatalf("got %v, %d %v, want a page that asks, with noindex", err, answer.Code, answer.Header())
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
	for _, below := range []string{"/download/", "/raw/", "/history", "/edit"} {
		if strings.Contains(page, path+below) {
			t.Errorf("got a link to %s, want none to a deleted paste", below)
		}
	}
	for range 2 {
		if answer, err := s.Posts(path+"/open", visit.Form{"do", "open"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v, %s when it is opened again, want fault.NotFound", err, answer.Body)
		}
	}
	if answer, err := s.Get(path); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, %s afterwards, want fault.NotFound", err, answer.Body)
	}
	// a tab that is opened again
	if answer, err := s.Get(path + "/open"); err != nil || answer.Header().Get("Location") != path {
		t.Errorf("got %v, %v, want a redirect to the paste", err, answer.Header())
	}
}

// TestBurningAnonymously checks that the browser that created the paste can delete it before it is read.
func TestBurningAnonymously(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	created, err := s.Posts("/", visit.Form{"burn", "on", "code", "x"})
	if err != nil || len(created.Result().Cookies()) != 2 {
		t.Fatalf("got %v, %v, want a paste and its key in a cookie", err, created.Header())
	}
	path, cookie := created.Header().Get("Location"), created.Result().Cookies()[0]
	key := strings.TrimPrefix(cookie.Value, site.UnseenKey)
	for below, want := range map[string][]string{"": {key, `href="` + path + `/delete">Elsewhere`},
		"/delete": {"Delete"}} {
		r := s.Asking(http.MethodGet, path+below, "", nil)
		r.AddCookie(cookie)
		answer, err := s.Answers(r)
		if err != nil {
			t.Fatalf("%q: got %v, want a page", below, err)
		}
		visit.WantIn(t, answer.Body.String(), want...)
	}
}

// TestBurningLong checks that a paste that burns is shown whole, however long it is.
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
		t.Error("got a part of the paste, want all of it")
	}
}

// TestBurningWithoutRoom opens a paste while there is no room for another large page. A paste that cannot be shown must
// not burn.
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
		s.Stored("/k2j4x8m1") // fails if it burnt
	} else {
		visit.WantIn(t, answer.Body.String(), "has been deleted")
	}
}

// TestBurningOfOwner checks that the owner can read the paste until another reader opens it.
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
	for _, below := range []string{"/fork", "/star"} {
		if answer, err := s.Posts("/k2j4x8m1"+below, visit.Form{"do", "star"}); err == nil {
			t.Errorf("%s: got %d, want an error", below, answer.Code)
		}
	}
	s.Secret = ""
	if page := s.Page("/~epoxy"); strings.Contains(page, "k2j4x8m1") {
		t.Errorf("got %s, want it not on the profile", page)
	}
}
