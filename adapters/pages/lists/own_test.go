package lists_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestOwnPastes checks that the list has all pastes of the signed-in user, on several pages, and no others.
func TestOwnPastes(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy, mortar := s.User("Epoxy", false), s.User("mortar", true)
	_, secret := s.Session("epoxy")
	for i := range pastes.PageSize + 2 {
		document := visit.Content(paste.Pasty{Code: "x"})
		document.Owner, document.Visibility, document.Title = epoxy, paste.Visibility(i%3), "<\u202etitle>"
		document.CreatedAt, document.ExpiresAt = time.UnixMicro(1795282550000000+int64(i/2)).UTC(),
			time.Date(2099, 1, 2, 3, 4, 0, 0, time.UTC)
		s.Holds(fmt.Sprintf("paste%03d", i), document)
	}
	others := visit.Content(paste.Pasty{Code: "x"})
	others.Owner = mortar
	s.Holds("others00", others)
	count := map[string]int{}
	pages, path := 0, "/pastes"
	for ; path != "" && pages < 5; pages++ {
		answer, _, err := s.As(secret, path)
		if err != nil || answer.Header().Get("Cache-Control") != "private, no-store" {
			t.Fatalf("%s: got %v, %v, want a page with private, no-store", path, err, answer.Header())
		}
		page := answer.Body.String()
		for _, item := range strings.Split(page, "<li>")[1:] {
			id := item[strings.Index(item, `href="/`)+len(`href="/`):][:len("paste000")]
			count[id]++
			visit.WantIn(t, item, `href="/`+id+`/edit" aria-label="Edit &lt;�title&gt;"`,
				`href="/`+id+`/delete"`, `data-mark="202E"`, "2 January 2099")
			for _, visibility := range []string{"public", "private", "unlisted"} {
				if strings.Contains(item, "<span>"+visibility+"</span>") {
					count[visibility]++
				}
			}
		}
		_, next, _ := strings.Cut(page, `class="button" href="/pastes`)
		if next, _, _ = strings.Cut(next, `"`); next != "" {
			next = "/pastes" + next
		}
		path = next
	}
	if pages != 2 || len(count) != pastes.PageSize+2+3 || count["others00"] != 0 || count["private"] < 17 ||
		count["public"] < 17 {
		t.Errorf("got %v on %d pages, want %d pastes of all kinds on 2", count, pages, pastes.PageSize+2)
	}
	for what, wrong := range map[string]string{"no token": "", "a token that is not valid": "made up"} {
		answer, rejected, err := s.As(wrong, "/pastes?after=1.a")
		if err != nil || rejected != (wrong != "") || answer.Code != http.StatusSeeOther ||
			answer.Header().Get("Location") != "/sign-in?next=%2Fpastes%3Fafter%3D1.a" {
			t.Errorf("%s: got %v, rejected: %v, %d %v, want a redirect to sign in", what, err, rejected, answer.Code,
				answer.Header())
		}
	}
	if answer, _, err := s.As(secret, "/pastes?after=x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v %s, want fault.NotFound", err, answer.Body)
	}
	_, another := s.Session("mortar")
	answer, _, err := s.As(another, "/pastes?after=1.a")
	if err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, answer.Body.String(), "No pastes match.", `href="/pastes">Show all pastes</a>`)
	s.User("newcomer", false)
	_, newcomer := s.Session("newcomer")
	if answer, _, err = s.As(newcomer, "/pastes"); err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, answer.Body.String(), "No pastes yet.", `href="/">New paste</a>`)
}
