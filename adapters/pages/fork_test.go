package pages

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
)

func TestFork(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	epoxy := s.user("Epoxy", true)
	_, secret := s.session("epoxy")
	open := content(paste.Pasty{Title: "main.go", Language: "Go", Code: "a\nb"}, paste.Pasty{Language: "C", Code: "<c>"})
	open.Title = "An <original>"
	s.holds("k2j4x8m1", open)
	private := content(paste.Pasty{Language: "Go", Code: "x"})
	private.Owner, private.Visibility, private.Title = epoxy, paste.Private, "A secret"
	s.holds("private0", private)
	form := s.page("/k2j4x8m1/fork")
	wantIn(t, form, `<input type="hidden" name="origin" value="k2j4x8m1">`, `value="An &lt;original&gt;"`, `value="main.go"`,
		"\na\nb</textarea>", "\n&lt;c&gt;</textarea>", `<option selected>C</option>`)
	if strings.Contains(form, `name="snippet" value="pasty`) {
		t.Errorf("got %s, want snippets of its own", form)
	}
	fork := s.lands("/", sent{"origin", "k2j4x8m1", "title", "A fork", "language", "Go", "code", "y"})
	wantIn(t, s.page(fork), `forked from <a href="/k2j4x8m1"><bdi>An &lt;original&gt;</bdi></a>`)
	if page := s.page("/k2j4x8m1"); strings.Contains(page, "forked from") {
		t.Errorf("got %s, want that only a fork says so", page)
	}
	s.secret = secret
	hidden := s.lands("/", sent{"origin", "private0", "language", "Go", "code", "y"})
	wantIn(t, s.page(hidden), `forked from <a href="/private0">`)
	gone := s.lands("/", sent{"origin", "unknown0", "language", "Go", "code", "y"})
	s.secret = ""
	for _, path := range []string{hidden, gone} {
		if page := s.page(path); strings.Contains(page, "forked from") || strings.Contains(page, "A secret") {
			t.Errorf("got %s, want nothing about what its reader may not read", page)
		}
	}
	wantIn(t, s.returns("/", 200, sent{"origin", "k2j4x8m1", "code", "y", "do", "add"}), `name="origin" value="k2j4x8m1"`)
	wantIn(t, s.returns("/", 400, sent{"origin", "a b", "code", "y"}), "not the id of a paste")
	if _, err := s.get("/private0/fork"); err == nil {
		t.Error("got a form with a private paste of another user, want nothing")
	}
}
