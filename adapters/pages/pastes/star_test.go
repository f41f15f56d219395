package pastes_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestStars(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("Epoxy", true)
	_, secret := s.Session("epoxy")
	s.Holds("k2j4x8m1", visit.Content(paste.Pasty{Language: "Go", Code: "x"}))
	if page := s.Page("/k2j4x8m1"); strings.Contains(page, "/star") {
		t.Errorf("got %s for a visitor, want no star to give", page)
	}
	if _, _, err := s.Post("", "/k2j4x8m1/star", url.Values{"do": {"star"}}); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v for a visitor, want to be asked to sign in", err)
	}
	s.Secret = secret
	visit.WantIn(t, s.Page("/starred"), "No starred pastes yet.")
	for _, c := range []struct{ do, page, list string }{
		{"star", `<button name="do" value="unstar">★ Starred</button>`, `href="/k2j4x8m1"`},
		{"star", `<span>1 star</span>`, `href="/k2j4x8m1"`},
		{"unstar", `<button name="do" value="star">☆ Star</button>`, "No starred pastes yet."},
		{"unstar", `<form method="post" action="/k2j4x8m1/star">`, "No starred pastes yet."},
	} {
		if at := s.Lands("/k2j4x8m1/star", visit.Form{"do", c.do}); at != "/k2j4x8m1" {
			t.Errorf("%s: got %s, want the paste", c.do, at)
		}
		visit.WantIn(t, s.Page("/k2j4x8m1"), c.page)
		list := s.Page("/starred")
		visit.WantIn(t, list, c.list, "<h1>Starred pastes")
		if strings.Contains(list, "/edit") {
			t.Errorf("got %s, want no buttons of an owner", list)
		}
	}
	for path, form := range map[string]visit.Form{"/unknown0/star": {"do", "star"}, "/k2j4x8m1/star": {"do", "love"}} {
		if answer, err := s.Posts(path, form); err == nil {
			t.Errorf("%s %v: got %d, want an error", path, form, answer.Code)
		}
	}
	s.Secret = ""
	answer, err := s.Get("/starred")
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/sign-in?next=%2Fstarred" {
		t.Errorf("got %d %v, %v, want to sign in first", answer.Code, answer.Header(), err)
	}
}
