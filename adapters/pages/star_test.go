package pages

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func TestStars(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.user("Epoxy", true)
	_, secret := s.session("epoxy")
	s.holds("k2j4x8m1", content(paste.Pasty{Language: "Go", Code: "x"}))
	if page := s.page("/k2j4x8m1"); strings.Contains(page, "/star") {
		t.Errorf("got %s for a visitor, want no star to give", page)
	}
	if _, _, err := s.post("", "/k2j4x8m1/star", url.Values{"do": {"star"}}); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v for a visitor, want to be asked to sign in", err)
	}
	s.secret = secret
	wantIn(t, s.page("/starred"), "There are none.")
	for _, c := range []struct{ do, page, list string }{
		{"star", `<button name="do" value="unstar">★ Starred</button>`, `href="/k2j4x8m1"`},
		{"star", `<span>1 star</span>`, `href="/k2j4x8m1"`},
		{"unstar", `<button name="do" value="star">☆ Star</button>`, "There are none."},
		{"unstar", `<form method="post" action="/k2j4x8m1/star">`, "There are none."},
	} {
		if at := s.lands("/k2j4x8m1/star", sent{"do", c.do}); at != "/k2j4x8m1" {
			t.Errorf("%s: got %s, want the paste", c.do, at)
		}
		wantIn(t, s.page("/k2j4x8m1"), c.page)
		list := s.page("/starred")
		wantIn(t, list, c.list, "<h1>Starred pastes")
		if strings.Contains(list, "/edit") {
			t.Errorf("got %s, want no buttons of an owner", list)
		}
	}
	for path, form := range map[string]sent{"/unknown0/star": {"do", "star"}, "/k2j4x8m1/star": {"do", "love"}} {
		if answer, err := s.posts(path, form); err == nil {
			t.Errorf("%s %v: got %d, want an error", path, form, answer.Code)
		}
	}
	s.secret = ""
	answer, err := s.get("/starred")
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/sign-in?next=%2Fstarred" {
		t.Errorf("got %d %v, %v, want to sign in first", answer.Code, answer.Header(), err)
	}
}
