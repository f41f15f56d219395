package editor_test

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestFork(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	_, secret := s.Session("epoxy")
	open := visit.Content(paste.Pasty{Title: "main.go", Language: "Go", Code: "a\nb"},
		paste.Pasty{Language: "C", Code: "<c>"})
	open.Title = "An <original>"
	s.Holds("k2j4x8m1", open)
	private := visit.Content(paste.Pasty{Language: "Go", Code: "x"})
	private.Owner, private.Visibility, private.Title = epoxy, paste.Private, "A secret"
	s.Holds("private0", private)
	form := s.Page("/k2j4x8m1/fork")
	visit.WantIn(t, form, `<input type="hidden" name="origin" value="k2j4x8m1">`, `value="An &lt;original&gt;"`,
		`value="main.go"`,
		"\na\nb</textarea>", "\n&lt;c&gt;</textarea>", `name="language" value="C"`)
	if strings.Contains(form, `name="snippet" value="pasty`) {
		t.Errorf("got %s, want snippets of its own", form)
	}
	fork := s.Lands("/", visit.Form{"origin", "k2j4x8m1", "title", "A fork", "language", "Go", "code", "y"})
	visit.WantIn(t, s.Page(fork), `forked from <a href="/k2j4x8m1"><bdi>An &lt;original&gt;</bdi></a>`)
	if page := s.Page("/k2j4x8m1"); strings.Contains(page, "forked from") {
		t.Errorf("got %s, want an origin only on the fork", page)
	}
	s.Secret = secret
	visit.WantIn(t, s.Page("/private0/fork"), `<option value="private" selected>`)
	visit.WantIn(t, s.Page("/k2j4x8m1/fork"), `<option value="unlisted" selected>`)
	hidden := s.Lands("/", visit.Form{"origin", "private0", "language", "Go", "code", "y"})
	visit.WantIn(t, s.Page(hidden), `forked from <a href="/private0">`)
	unknown := s.Lands("/", visit.Form{"origin", "unknown0", "language", "Go", "code", "y"})
	s.Secret = ""
	for _, path := range []string{hidden, unknown} {
		if page := s.Page(path); strings.Contains(page, "forked from") || strings.Contains(page, "A secret") {
			t.Errorf("got %s, want nothing about a paste that the reader may not read", page)
		}
	}
	visit.WantIn(t, s.Returns("/", 200, visit.Form{"origin", "k2j4x8m1", "code", "y", "do", "add"}),
		`name="origin" value="k2j4x8m1"`)
	visit.WantIn(t, s.Returns("/", 400, visit.Form{"origin", "a b", "code", "y"}), "must be the id of a paste")
	if _, err := s.Get("/private0/fork"); err == nil {
		t.Error("got a form with a private paste of another user, want nothing")
	}
}
