package editor_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

const editPath = "/k2j4x8m1/edit"

func TestCreateOwn(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, nil)
	form := visit.FilledIn(s.Page("/")).With("code", 0, "x").With("visibility", 0, "private").With("tags", 0, "z, y")
	got := s.Stored(s.Lands("/", form))
	if got.Owner == "" || visit.Summary(got) != `"" private ["y" "z"] "" Autodetect "x"` {
		t.Errorf("got %s of %q, want what the form has, with an owner", visit.Summary(got), got.Owner)
	}
	// The user's session ends before the form is sent.
	s.Secret = ""
	page := s.Returns("/", http.StatusUnauthorized, form)
	visit.WantIn(t, page, "sign in in another tab", `value="z, y"`, `<option value="private" selected>`)
	s.Lands("/", visit.Form{"code", "x"})
	s.Returns("/", http.StatusUnauthorized, visit.Form{"code", "x", "signed-in", "true"})
}

func TestEdit(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, nil)
	visit.WantIn(t, s.Page("/k2j4x8m1"), `href="/k2j4x8m1/edit"`, `href="/k2j4x8m1/delete"`)
	form := visit.FilledIn(s.Page(editPath))
	if path := s.Lands(editPath, form); path != "/k2j4x8m1" || len(s.Stored(path).Edits) != 0 {
		t.Errorf("got a redirect to %s and %d edits, want the paste unchanged", path, len(s.Stored("k2j4x8m1").Edits))
	}
	for range 2 { // the second changes nothing, and does not conflict
		s.Lands(editPath, form.With("title", 0, "Once"))
	}
	if n := len(s.Stored("k2j4x8m1").Edits); n != 1 {
		t.Errorf("got %d edits, want one", n)
	}
	form = visit.FilledIn(s.Page(editPath))
	form = form.With("title", 0, "Another").With("code", 1,
		"\nint y;\n").With("tags", 0, "").With("visibility", 0, "public")
	s.Lands(editPath, append(form, "snippet", "", "name", "new", "language", "C", "code", "third"))
	got := s.Stored("k2j4x8m1")
	const want = `"Another" public [] "main.go" Go "package main\n" "b.c" C "\nint y;\n" "new" C "third"`
	if visit.Summary(got) != want || len(got.Edits) != 4 {
		t.Errorf("got %s with %d edits, want %s with four", visit.Summary(got), len(got.Edits), want)
	}
	page := s.Returns(editPath, http.StatusOK, visit.FilledIn(s.Page(editPath)).With("do", 0, "remove-1"))
	s.Lands(editPath, visit.FilledIn(page))
	if got = s.Stored("k2j4x8m1"); len(got.Pasties) != 2 || got.Pasties[0].Title != "b.c" {
		t.Errorf("got %s, want it without the first snippet", visit.Summary(got))
	}
	visit.WantIn(t, s.Returns(editPath, http.StatusBadRequest,
		visit.FilledIn(s.Page(editPath)).With("title", 0, strings.Repeat("x", 1025))),
		`id="title-problem">It must have at most 1024 characters.`)
}

// TestEditKeepsBytes saves texts that a browser cannot send back unchanged.
func TestEditKeepsBytes(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, func(d *paste.Document) {
		d.Title, d.Tags = "a\nb\x00", []string{"c\nd", "e\x00"}
		d.Pasties = []paste.Pasty{
			{ID: "pasty000", Title: "c\r\n", Language: "Klingon", Code: "\n1\r2\r\n\x003\n"},
			{ID: "pasty000", Title: "twice", Language: "Go", Code: "\r\n"},
			{ID: "pasty001", Language: " Klingon \x00  of Kronos\n", Code: "1"},
			{ID: "pasty002", Code: "2"},
		}
	})
	before := visit.Summary(s.Stored("k2j4x8m1"))
	form := visit.FilledIn(s.Page(editPath))
	s.Lands(editPath, form)
	if after := s.Stored("k2j4x8m1"); visit.Summary(after) != before || len(after.Edits) > 0 {
		t.Errorf("got %s, want %s", visit.Summary(after), before)
	}
	s.Lands(editPath, form.With("title", 0, "new"))
	if got, want := visit.Summary(s.Stored("k2j4x8m1")), strings.Replace(before, `"a\nb\x00"`, `"new"`, 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEditKeepsLineEnds changes a line of a patch, forks it, and restores it.
func TestEditKeepsLineEnds(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, func(d *paste.Document) {
		d.Pasties = []paste.Pasty{{ID: "pasty000", Language: "Diff", Code: patch}}
	})
	form := visit.FilledIn(s.Page("/k2j4x8m1/fork")).With("title", 0, "a fork")
	if got := s.Stored(s.Lands("/", form)).Pasties[0].Code; got != patch {
		t.Errorf("got the fork %q, want %q", got, patch)
	}
	form = visit.FilledIn(s.Page(editPath))
	s.Lands(editPath, form.With("code", 0, strings.Replace(strings.ReplaceAll(patch, "\r", ""), "three", "four", 1)))
	if got, want := s.Stored("k2j4x8m1").Pasties[0].Code, strings.Replace(patch, "three", "four", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Lands("/k2j4x8m1/history/original", nil)
	if got := s.Stored("k2j4x8m1").Pasties[0].Code; got != patch {
		t.Errorf("got %q after restoring, want %q", got, patch)
	}
}

// TestEditMeetsAnother sends a form after another edit of the same paste. Nothing is saved until it is sent again.
func TestEditMeetsAnother(t *testing.T) {
	t.Parallel()
	for name, mine := range map[string]func(visit.Form) visit.Form{
		"with a base":    func(f visit.Form) visit.Form { return f },
		"without a base": func(f visit.Form) visit.Form { return f.With("base", 0, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := visit.Owned(t, nil)
			form := visit.FilledIn(s.Page(editPath))
			theirs := form.With("title", 0, "Theirs").With("code", 0, "theirs").With("tags", 0, "c").With("snippet", 1, "").
				With("name", 1, "theirs.c").With("code", 1, "new") // which removes a snippet and adds one
			s.Lands(editPath, theirs.With("visibility", 0, "private"))
			before := visit.Summary(s.Stored("k2j4x8m1"))
			page := s.Returns(editPath, http.StatusConflict, mine(form).With("code", 0, "mine").With("title", 0, "Mine"))
			visit.WantIn(t, page, "nothing is saved yet", `href="/k2j4x8m1/history"`, `value="Mine"`, "mine</textarea>")
			if got := visit.Summary(s.Stored("k2j4x8m1")); got != before {
				t.Errorf("got %s, want nothing changed of %s", got, before)
			}
			s.Lands(editPath, visit.FilledIn(page))
			got := s.Stored("k2j4x8m1")
			if want := `"Mine" unlisted ["a" "b"] "main.go" Go "mine" "b.c" C "\nint x;"`; visit.Summary(got) != want {
				t.Errorf("got %s, want %s", visit.Summary(got), want)
			}
			if n := len(got.Edits); n != 8 || got.Edits[n-2].Text != "new" {
				t.Errorf("got %v, want the other edit in the history", got.Edits)
			}
		})
	}
}

// TestEditTwice sends the same form twice, as a double click does. The second time it changes nothing.
func TestEditTwice(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, nil)
	form := visit.FilledIn(s.Page(editPath)).With("title", 0, "Once").With("code", 1, "twice")
	for range 2 {
		s.Lands(editPath, form)
	}
	if got := s.Stored("k2j4x8m1"); len(got.Edits) != 2 {
		t.Errorf("got %s with %d edits, want two", visit.Summary(got), len(got.Edits))
	}
	s.Returns(editPath, http.StatusConflict, append(form, "snippet", "", "name", "c.go", "language", "Autodetect", "code",
		"package c\n"))
}

func TestDelete(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, nil)
	visit.WantIn(t, s.Page("/k2j4x8m1/delete"), "Delete “<bdi>A title</bdi>”?",
		`<form method="post" action="/k2j4x8m1/delete">`)
	s.Stored("k2j4x8m1") // it is still there
	if path := s.Lands("/k2j4x8m1/delete", visit.Form{"x", ""}); path != "/pastes" {
		t.Errorf("got a redirect to %s, want the list", path)
	}
	if _, err := s.Get("/k2j4x8m1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound", err)
	}
}

// nonce matches the nonce of a page, which differs between answers.
var nonce = regexp.MustCompile(` nonce="\w+"`)

// TestOthersCannotWrite checks that another user and a visitor cannot do what only the owner may.
func TestOthersCannotWrite(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, nil)
	s.User("mortar", true)
	s.Holds("anonymus", visit.Content(paste.Pasty{Code: "x"}))
	form := visit.FilledIn(s.Page(editPath)).With("title", 0, "taken over")
	before := visit.Summary(s.Stored("k2j4x8m1"))
	_, others := s.Session("mortar")
	returned := make(map[int]map[string]bool) // pages that return a form, without the id, by status
	for _, c := range []struct {
		who, secret string
		status      int // of a form that comes back
		deleting    fault.Kind
	}{
		{"nobody", "", http.StatusUnauthorized, fault.Unauthenticated},
		{"a made-up token", "\x00", http.StatusUnauthorized, fault.Unauthenticated},
		{"somebody else", others, http.StatusNotFound, fault.NotFound},
	} {
		s.Secret = c.secret
		if page := s.Page("/k2j4x8m1"); strings.Contains(page, "/edit") || strings.Contains(page, "/delete") {
			t.Errorf("%s: got %s, want no links to change it", c.who, page)
		}
		for _, id := range []string{"k2j4x8m1", "anonymus", "unknown0", "ZZ"} {
			edit := "/" + id + "/edit"
			if answer, err := s.Get(edit); c.status == http.StatusUnauthorized &&
				(err != nil || answer.Header().Get("Location") != "/sign-in?next="+url.QueryEscape(edit)) {
				t.Errorf("%s: %s: got %v, %v, want to be asked to sign in", c.who, edit, err, answer.Header())
			} else if c.status == http.StatusNotFound && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %s: got %v, want fault.NotFound", c.who, edit, err)
			}
			if _, err := s.Get("/" + id + "/delete"); fault.KindOf(err) != c.deleting {
				t.Errorf("%s: got %v for the page that deletes, want the kind %q", c.who, err, c.deleting)
			}
			if _, err := s.Posts("/"+id+"/delete", form); fault.KindOf(err) != c.deleting {
				t.Errorf("%s: got %v for the deletion of %s, want the kind %q", c.who, err, id, c.deleting)
			}
			// The form comes back, whatever the id is.
			page := s.Returns("/"+id+"/edit", c.status, form)
			if returned[c.status] == nil {
				returned[c.status] = make(map[string]bool)
			}
			returned[c.status][nonce.ReplaceAllString(strings.ReplaceAll(page, id, ""), "")] = true
		}
	}
	for status, pages := range returned {
		if len(pages) != 1 {
			t.Errorf("got %d pages with %d, want the same one for every id", len(pages), status)
		}
	}
	if after := visit.Summary(s.Stored("k2j4x8m1")); after != before {
		t.Errorf("got %s, want %s", after, before)
	}
}

// TestEditAfterTheSession sends a form whose session has ended since it was opened, and sends it again after signing
// in.
func TestEditAfterTheSession(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, nil)
	form, secret := visit.FilledIn(s.Page(editPath)).With("code", 0, "hours of work").With("title", 0, "Typed"), s.Secret
	s.Secret = ""
	page := s.Returns(editPath, http.StatusUnauthorized, form)
	visit.WantIn(t, page, "sign in in another tab", "hours of work</textarea>", `action="/k2j4x8m1/edit"`)
	s.Secret = secret
	s.Lands(editPath, visit.FilledIn(page))
	if got := s.Stored("k2j4x8m1"); got.Title != "Typed" || got.Pasties[0].Code != "hours of work" {
		t.Errorf("got %s, want what was typed", visit.Summary(got))
	}
	s.Secret = ""
	if _, err := s.Posts("/no%20id/edit", form); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v for an invalid id, want fault.NotFound", err)
	}
}

// TestFormOfSomebodyElse sends forms as another user than the one who opened them. A new paste belongs to its sender,
// and an edit needs the owner.
func TestFormOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, nil)
	mortar := s.User("mortar", true)
	epoxys := s.Secret
	_, mortars := s.Session("mortar")
	createForm, editForm := visit.FilledIn(s.Page("/")).With("code", 0, "hours of work"),
		visit.FilledIn(s.Page(editPath)).With("title", 0, "Typed")
	s.Secret = ""
	anonymous := visit.FilledIn(s.Page("/")).With("code", 0, "x")
	s.Secret = mortars
	for _, form := range []visit.Form{createForm, anonymous} {
		if got := s.Stored(s.Lands("/", form)); got.Owner != mortar {
			t.Errorf("got a paste of %q, want it of %q", got.Owner, mortar)
		}
	}
	visit.WantIn(t, s.Returns(editPath, http.StatusNotFound, editForm), "This paste no longer exists", `value="Typed"`)
	s.Secret = epoxys
	s.Lands(editPath, editForm)
	if got := s.Stored("k2j4x8m1"); got.Title != "Typed" {
		t.Errorf("got %s, want what was typed", visit.Summary(got))
	}
}

// TestEditOfDeletedPaste sends a form whose paste was deleted since it was opened.
func TestEditOfDeletedPaste(t *testing.T) {
	t.Parallel()
	s := visit.Owned(t, nil)
	form := visit.FilledIn(s.Page(editPath)).With("code", 0, "hours of work").With("visibility", 0, "private")
	s.Lands("/k2j4x8m1/delete", visit.Form{"x", ""})
	page := s.Returns(editPath, http.StatusNotFound, form)
	visit.WantIn(t, page, "This paste no longer exists", "hours of work</textarea>", `action="/"`)
	got := s.Stored(s.Lands("/", visit.FilledIn(page)))
	if want := `"A title" private ["a" "b"] "main.go" Go "hours of work" "b.c" C "\nint x;"`; visit.Summary(got) != want {
		t.Errorf("got %s, want %s", visit.Summary(got), want)
	}
}

// TestTooLargeForAForm opens pastes that are too large to edit on a page.
func TestTooLargeForAForm(t *testing.T) {
	t.Parallel()
	for name, pasties := range map[string][]paste.Pasty{
		"bytes": {{ID: "a", Code: strings.Repeat("x", site.MaxShownBytes+1)}},
		// a browser makes more of it than a body may have
		"line ends": {{ID: "a", Code: strings.Repeat("x\n", site.MaxShownBytes*2/5)}},
		"snippets":  slices.Repeat([]paste.Pasty{{ID: "a"}}, 100+1),
	} {
		s := visit.Owned(t, func(d *paste.Document) { d.Pasties = pasties })
		if _, err := s.Get(editPath); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want fault.Invalid", name, err)
		}
	}
}
