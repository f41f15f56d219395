package pages

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	inputs    = regexp.MustCompile(`<input [^>]*name="([a-z-]+)"[^>]* value="([^"]*)"`)
	selects   = regexp.MustCompile(`(?s)<select [^>]*name="([a-z]+)"[^>]*>(.*?)</select>`)
	selected  = regexp.MustCompile(`<option(?: value="([a-z0-9]+)")? selected>([^<]*)<`)
	textareas = regexp.MustCompile(`(?s)<textarea [^>]*name="([a-z]+)"[^>]*>\n?(.*?)</textarea>`)
)

// filledIn returns the form on a page as a browser sends it when nobody has touched it, but for the button.
func filledIn(page string) (form sent) {
	page = strings.ReplaceAll(page, "\x00", "\ufffd")
	for _, found := range inputs.FindAllStringSubmatch(page, -1) {
		form = append(form, found[1], strings.NewReplacer("\r", "", "\n", "").Replace(html.UnescapeString(found[2])))
	}
	for _, found := range selects.FindAllStringSubmatch(page, -1) {
		option := selected.FindStringSubmatch(found[2])
		value := option[1]
		if value == "" {
			value = strings.Join(strings.Fields(html.UnescapeString(option[2])), " ") // HTML, 4.10.10: text of an option
		}
		form = append(form, found[1], value)
	}
	for _, found := range textareas.FindAllStringSubmatch(page, -1) {
		form = append(form, found[1], html.UnescapeString(strings.ReplaceAll(found[2], "\r", "\n")))
	}
	return append(form, "do", "save")
}

// with returns the form with another value in the nth field of that name, from 0.
func (s sent) with(name string, n int, value string) sent {
	s = slices.Clone(s)
	for i := 0; i < len(s); i += 2 {
		if s[i] != name {
			continue
		}
		if n == 0 {
			s[i+1] = value
		}
		n--
	}
	return s
}

// owned is a site with a paste of two snippets, whose owner has signed in.
func owned(t testing.TB, change func(*paste.Document)) *site {
	t.Helper()
	s := newSite(t)
	document := content(
		paste.Pasty{Title: "main.go", Language: "Go", Code: "package main\n"}, paste.Pasty{Title: "b.c", Language: "C", Code: "\nint x;"},
	)
	document.Owner, document.Tags = s.user("Epoxy", true), []string{"a", "b"}
	if change != nil {
		change(&document)
	}
	s.holds("k2j4x8m1", document)
	_, s.secret = s.session("epoxy")
	return s
}

const editPath = "/k2j4x8m1/edit"

func TestCreateOwn(t *testing.T) {
	t.Parallel()
	s := owned(t, nil)
	form := filledIn(s.page("/")).with("code", 0, "x").with("visibility", 0, "private").with("tags", 0, "z, y")
	got := s.stored(s.lands("/", form))
	if got.Owner == "" || summary(got) != `"" private ["y" "z"] "" Autodetect "x"` {
		t.Errorf("got %s of %q, want it as it was filled in, of an owner", summary(got), got.Owner)
	}
	// Somebody whose session has ended meanwhile.
	s.secret = ""
	page := s.returns("/", http.StatusUnauthorized, form)
	wantIn(t, page, "sign in in another tab", `value="z, y"`, `<option value="private" selected>`)
	s.lands("/", sent{"code", "x"})
	s.returns("/", http.StatusUnauthorized, sent{"code", "x", "opener", "anybody"})
}

func TestEdit(t *testing.T) {
	t.Parallel()
	s := owned(t, nil)
	wantIn(t, s.page("/k2j4x8m1"), `href="/k2j4x8m1/edit"`, `href="/k2j4x8m1/delete"`)
	form := filledIn(s.page(editPath))
	if path := s.lands(editPath, form); path != "/k2j4x8m1" || len(s.stored(path).Edits) != 0 {
		t.Errorf("got to %s with %d edits, want the paste as it was", path, len(s.stored("k2j4x8m1").Edits))
	}
	for range 2 { // the second changes nothing, and meets nobody
		s.lands(editPath, form.with("title", 0, "Once"))
	}
	if n := len(s.stored("k2j4x8m1").Edits); n != 1 {
		t.Errorf("got %d edits, want one", n)
	}
	form = filledIn(s.page(editPath))
	form = form.with("title", 0, "Another").with("code", 1, "\nint y;\n").with("tags", 0, "").with("visibility", 0, "public")
	s.lands(editPath, append(form, "snippet", "", "name", "new", "language", "C", "code", "third"))
	got := s.stored("k2j4x8m1")
	const want = `"Another" public [] "main.go" Go "package main\n" "b.c" C "\nint y;\n" "new" C "third"`
	if summary(got) != want || len(got.Edits) != 4 {
		t.Errorf("got %s with %d edits, want %s with four", summary(got), len(got.Edits), want)
	}
	page := s.returns(editPath, http.StatusOK, filledIn(s.page(editPath)).with("do", 0, "remove-1"))
	s.lands(editPath, filledIn(page))
	if got = s.stored("k2j4x8m1"); len(got.Pasties) != 2 || got.Pasties[0].Title != "b.c" {
		t.Errorf("got %s, want it without the first snippet", summary(got))
	}
	wantIn(t, s.returns(editPath, http.StatusBadRequest, filledIn(s.page(editPath)).with("title", 0, strings.Repeat("x", 1025))),
		`id="title-problem">It is longer than 1024 characters.`)
}

// TestEditKeepsBytes saves what a browser cannot give back.
func TestEditKeepsBytes(t *testing.T) {
	t.Parallel()
	s := owned(t, func(d *paste.Document) {
		d.Title, d.Tags = "a\nb\x00", []string{"c\nd", "e\x00"}
		d.Pasties = []paste.Pasty{
			{ID: "pasty000", Title: "c\r\n", Language: "Klingon", Code: "\n1\r2\r\n\x003\n"},
			{ID: "pasty000", Title: "twice", Language: "Go", Code: "\r\n"},
			{ID: "pasty001", Language: " Klingon \x00  of Kronos\n", Code: "1"},
			{ID: "pasty002", Code: "2"},
		}
	})
	before := summary(s.stored("k2j4x8m1"))
	form := filledIn(s.page(editPath))
	s.lands(editPath, form)
	if after := s.stored("k2j4x8m1"); summary(after) != before || len(after.Edits) > 0 {
		t.Errorf("got %s, want %s", summary(after), before)
	}
	s.lands(editPath, form.with("title", 0, "new"))
	if got, want := summary(s.stored("k2j4x8m1")), strings.Replace(before, `"a\nb\x00"`, `"new"`, 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEditMeetsAnother sends a form after another edit of the same paste.
func TestEditMeetsAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		form  func(sent) sent
		shown []string // of what the paste is meanwhile
		after string
	}{
		"all changed": {
			func(f sent) sent { return f.with("code", 0, "mine").with("title", 0, "Mine") },
			[]string{"It is now: <bdi>Theirs</bdi>", "as it is now\">\ntheirs</pre>", "It is now: only I<", "They are now: <bdi>c</bdi>"},
			`"Mine" unlisted ["a" "b"] "main.go" Go "mine" "b.c" C "\nint x;" "theirs.c" C "new"`,
		},
		"without a base": {
			func(f sent) sent { return f.with("base", 0, "").with("title", 0, "Mine") },
			[]string{"It is now: <bdi>Theirs</bdi>"},
			`"Mine" unlisted ["a" "b"] "main.go" Go "package main\n" "b.c" C "\nint x;" "theirs.c" C "new"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := owned(t, nil)
			form := filledIn(s.page(editPath))
			theirs := form.with("title", 0, "Theirs").with("code", 0, "theirs").with("tags", 0, "c").with("snippet", 1, "").
				with("name", 1, "theirs.c").with("code", 1, "new") // which removes a snippet and adds one
			s.lands(editPath, theirs.with("visibility", 0, "private"))
			between := summary(s.stored("k2j4x8m1"))
			page := s.returns(editPath, http.StatusConflict, c.form(form))
			wantIn(t, page, append(c.shown, "nothing is saved yet", "This snippet was added meanwhile")...)
			if got := summary(s.stored("k2j4x8m1")); got != between {
				t.Errorf("got %s, want nothing changed of %s", got, between)
			}
			s.lands(editPath, filledIn(page)) // having seen both
			if got := summary(s.stored("k2j4x8m1")); got != c.after {
				t.Errorf("got %s, want %s", got, c.after)
			}
		})
	}
}

// TestEditMeetsMoreThanFits sends a form that has no room for what somebody has added meanwhile: nobody has seen that yet.
func TestEditMeetsMoreThanFits(t *testing.T) {
	t.Parallel()
	s := owned(t, func(d *paste.Document) {
		d.Pasties = nil
		for i := range maxFormSnippets {
			d.Pasties = append(d.Pasties, paste.Pasty{ID: fmt.Sprintf("p%07d", i), Language: "Go", Code: "x"})
		}
	})
	form := filledIn(s.page(editPath))
	s.lands(editPath, form.with("snippet", 0, "").with("code", 0, "theirs")) // removes a snippet and adds one
	mine := form.with("title", 0, "Mine")
	page := s.returns(editPath, http.StatusConflict, mine)
	wantIn(t, page, "There is no room here for 1 more", fmt.Sprintf(`name="base" value="%s"`, mine[slices.Index(mine, "base")+1]))
	for _, field := range []string{"snippet", "name", "language", "code"} {
		at := slices.Index(mine, field)
		mine = slices.Delete(mine, at, at+2)
	}
	page = s.returns(editPath, http.StatusConflict, mine)
	wantIn(t, page, "theirs</textarea>", "This snippet was added meanwhile")
	s.lands(editPath, filledIn(page))
	got := s.stored("k2j4x8m1")
	if n := len(got.Pasties); n != maxFormSnippets || got.Title != "Mine" || got.Pasties[n-1].Code != "theirs" {
		t.Errorf("got %s, want both edits", summary(got))
	}
}

// TestEditMeetsTheSameTwice has an imported paste with an id twice be edited by two.
func TestEditMeetsTheSameTwice(t *testing.T) {
	t.Parallel()
	s := owned(t, func(d *paste.Document) {
		d.Pasties = []paste.Pasty{{ID: "pasty000", Language: "Go", Code: "1"}, {ID: "pasty000", Language: "Go", Code: "2"}}
	})
	form := filledIn(s.page(editPath))
	s.lands(editPath, form.with("code", 1, "theirs"))
	page := s.returns(editPath, http.StatusConflict, form.with("code", 0, "mine"))
	wantIn(t, page, "as it is now\">\n1</pre>", "as it is now\">\ntheirs</pre>")
	s.lands(editPath, filledIn(page).with("code", 1, "theirs"))
	got := s.stored("k2j4x8m1")
	if want := `"A title" unlisted ["a" "b"] "" Go "mine" "" Go "theirs"`; summary(got) != want || len(got.Edits) != 2 {
		t.Errorf("got %s with %d edits, want %s with two", summary(got), len(got.Edits), want)
	}
}

// TestEditTwice sends the same form twice, as who presses a button twice does: what it adds is added once.
func TestEditTwice(t *testing.T) {
	t.Parallel()
	s := owned(t, nil)
	form := append(filledIn(s.page(editPath)).with("title", 0, "Once"),
		"snippet", "", "name", "c.go", "language", "Autodetect", "code", "package c\n",
		"snippet", "", "name", "", "language", "C", "code", "1\n2",
	)
	for range 2 {
		s.lands(editPath, form)
	}
	if got := s.stored("k2j4x8m1"); len(got.Pasties) != 4 || len(got.Edits) != 3 {
		t.Errorf("got %s with %d edits, want each snippet once", summary(got), len(got.Edits))
	}
	s.returns(editPath, http.StatusConflict, form.with("code", 3, "1\n3"))
}

func TestDelete(t *testing.T) {
	t.Parallel()
	s := owned(t, nil)
	wantIn(t, s.page("/k2j4x8m1/delete"), "Delete “<bdi>A title</bdi>”?", `<form method="post" action="/k2j4x8m1/delete">`)
	s.stored("k2j4x8m1") // it is still there
	if path := s.lands("/k2j4x8m1/delete", sent{"x", ""}); path != "/pastes" {
		t.Errorf("got to %s, want the list", path)
	}
	if _, err := s.get("/k2j4x8m1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want that it is gone", err)
	}
}

// TestOthersCannotWrite has somebody else, and nobody, ask for what only an owner may.
func TestOthersCannotWrite(t *testing.T) {
	t.Parallel()
	s := owned(t, nil)
	mortar := s.user("mortar", true)
	s.holds("anonymus", content(paste.Pasty{Code: "x"}))
	form := filledIn(s.page(editPath)).with("title", 0, "taken over")
	before := summary(s.stored("k2j4x8m1"))
	_, others := s.session("mortar")
	kept := make(map[int]map[string]bool) // the pages that forms come back on, but for the id, by their status
	for _, c := range []struct {
		who, secret string
		opener      user.ID // of the form
		status      int     // of a form that comes back
	}{
		{"nobody", "", "anybody", http.StatusUnauthorized},
		{"a made-up token", "\x00", "anybody", http.StatusUnauthorized},
		{"somebody else", others, "anybody", http.StatusConflict},
		{"somebody else, with a form of their own", others, mortar, http.StatusNotFound},
	} {
		s.secret = c.secret
		if page := s.page("/k2j4x8m1"); strings.Contains(page, "/edit") || strings.Contains(page, "/delete") {
			t.Errorf("%s: got %s, want nothing to change it with", c.who, page)
		}
		for _, id := range []string{"k2j4x8m1", "anonymus", "unknown0", "zz"} {
			for _, path := range []string{"/" + id + "/edit", "/" + id + "/delete"} {
				if _, err := s.get(path); !fault.Is(err, fault.NotFound) {
					t.Errorf("%s: %s: got %v, want that there is nothing", c.who, path, err)
				}
			}
			if _, err := s.posts("/"+id+"/delete", form); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: got %v for the deletion of %s, want that there is nothing", c.who, err, id)
			}
			// What somebody has typed comes back, whatever is there.
			page := s.returns("/"+id+"/edit", c.status, form.with("opener", 0, string(c.opener)))
			if kept[c.status] == nil {
				kept[c.status] = make(map[string]bool)
			}
			kept[c.status][strings.ReplaceAll(page, id, "")] = true
		}
	}
	for status, pages := range kept {
		if len(pages) != 1 {
			t.Errorf("got %d pages with %d, want the same one whatever is there", len(pages), status)
		}
	}
	if after := summary(s.stored("k2j4x8m1")); after != before {
		t.Errorf("got %s, want %s", after, before)
	}
}

// TestEditAfterTheSession sends a form whose session has ended since it was opened, and sends it again after signing in.
func TestEditAfterTheSession(t *testing.T) {
	t.Parallel()
	s := owned(t, nil)
	form, secret := filledIn(s.page(editPath)).with("code", 0, "hours of work").with("title", 0, "Typed"), s.secret
	s.secret = ""
	page := s.returns(editPath, http.StatusUnauthorized, form)
	wantIn(t, page, "sign in in another tab", "hours of work</textarea>", `action="/k2j4x8m1/edit"`)
	s.secret = secret
	s.lands(editPath, filledIn(page))
	if got := s.stored("k2j4x8m1"); got.Title != "Typed" || got.Pasties[0].Code != "hours of work" {
		t.Errorf("got %s, want what was typed", summary(got))
	}
	s.secret = ""
	if _, err := s.posts("/no%20id/edit", form); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v for what is no id, want that there is nothing", err)
	}
}

// TestFormOfSomebodyElse sends a form as another user than it was opened as.
func TestFormOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := owned(t, nil)
	mortar := s.user("mortar", true)
	epoxys := s.secret
	_, mortars := s.session("mortar")
	created, edited := filledIn(s.page("/")).with("code", 0, "hours of work"), filledIn(s.page(editPath)).with("title", 0, "Typed")
	s.secret = mortars
	page := s.returns("/", http.StatusConflict, created)
	wantIn(t, page, "nothing is saved yet", "create the paste as mortar", "hours of work</textarea>")
	if got := s.stored(s.lands("/", filledIn(page))); got.Owner != mortar {
		t.Errorf("got a paste of %q, want it of %q, who has seen so", got.Owner, mortar)
	}
	page = s.returns(editPath, http.StatusConflict, edited)
	wantIn(t, page, "sign in as that user in another tab", `value="Typed"`)
	s.returns(editPath, http.StatusConflict, filledIn(page))
	s.secret = epoxys
	s.lands(editPath, filledIn(page))
	if got := s.stored("k2j4x8m1"); got.Title != "Typed" {
		t.Errorf("got %s, want what was typed", summary(got))
	}
	// A form that was opened by nobody becomes the paste of who has signed in to send it.
	s.secret = ""
	form := filledIn(s.page("/")).with("code", 0, "x")
	s.secret = mortars
	if got := s.stored(s.lands("/", form)); got.Owner != mortar {
		t.Errorf("got a paste of %q, want it of %q", got.Owner, mortar)
	}
}

// TestEditOfWhatIsGone sends a form whose paste was deleted since it was opened.
func TestEditOfWhatIsGone(t *testing.T) {
	t.Parallel()
	s := owned(t, nil)
	form := filledIn(s.page(editPath)).with("code", 0, "hours of work").with("visibility", 0, "private")
	s.lands("/k2j4x8m1/delete", sent{"x", ""})
	page := s.returns(editPath, http.StatusNotFound, form)
	wantIn(t, page, "You have no such paste any more", "hours of work</textarea>", `action="/"`)
	got := s.stored(s.lands("/", filledIn(page)))
	if want := `"A title" private ["a" "b"] "main.go" Go "hours of work" "b.c" C "\nint x;"`; summary(got) != want {
		t.Errorf("got %s, want %s", summary(got), want)
	}
}

// TestTooLargeForAForm has pastes that no page can edit.
func TestTooLargeForAForm(t *testing.T) {
	t.Parallel()
	for name, pasties := range map[string][]paste.Pasty{
		"bytes":     {{ID: "a", Code: strings.Repeat("x", maxShownBytes+1)}},
		"line ends": {{ID: "a", Code: strings.Repeat("x\n", maxShownBytes*2/5)}}, // of which a browser makes more than a body may have
		"snippets":  slices.Repeat([]paste.Pasty{{ID: "a"}}, maxFormSnippets+1),
	} {
		s := owned(t, func(d *paste.Document) { d.Pasties = pasties })
		if _, err := s.get(editPath); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want that programs can", name, err)
		}
	}
}
