package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// maxFormSnippets is how many snippets a form has room for. A paste can have more, which programs edit.
const maxFormSnippets = 100

// What the buttons of a form send as "do". That which removes a snippet has its number after it.
const (
	doAdd    = "add"
	doRemove = "remove-"
)

// pasteForm is a paste as it is filled in. It is shown again as it was sent, whatever becomes of it.
type pasteForm struct {
	Title, Lifetime, Visibility, Tags string
	Snippets                          []snippet
	Opener                            string // the id of who had signed in when it was shown, or ""
	Base                              string // the revision of the paste that is edited
	do                                string
}

// snippet is a pasty as it is filled in.
type snippet struct {
	Number                   int    // from 1
	ID, Name, Language, Code string // the id is empty for one that is new
	Focused                  bool
	Now                      *snippet // what it is meanwhile, where it is edited and that differs
	Restored                 bool     // it was not on the form, and is there meanwhile
}

// Label returns what errors call the snippet.
func (s *snippet) Label() string { return "snippet " + strconv.Itoa(s.Number) }

// Field returns what errors call a field of the snippet.
func (s *snippet) Field(name string) string { return paste.FieldOf(name, s.Label()) }

// blank reports whether nobody has filled the snippet in.
func (s *snippet) blank() bool { return s.ID == "" && s.Name == "" && s.Code == "" }

// formPage is a page with a form.
type formPage struct {
	layout

	ID      string // of the paste that is edited; empty: the form creates one
	Heading text   // its title
	Form    pasteForm
	Owned   bool       // whoever fills it in will own the paste, or has filled in what only an owner can
	Closed  bool       // a new paste needs a signed-in user
	Now     *pasteForm // what the paste is meanwhile
	Wrong   problem
}

// problem is what is wrong with a form: with one of its fields, or with all of it where that is empty.
type problem struct{ Field, Text string }

// Problem returns what is wrong with the field of that name, or "".
func (p *formPage) Problem(field string) string {
	if p.Wrong.Field == field {
		return p.Wrong.Text
	}
	return ""
}

// choice is one of a list to select from.
type choice struct{ Value, Text string }

// Lifetimes are those that a paste can be created with.
func (p *formPage) Lifetimes() []choice {
	return []choice{
		{"never", "never"}, {"1h", "in an hour"}, {"2h", "in two hours"}, {"10h", "in ten hours"}, {"1d", "in a day"}, {"2d", "in two days"},
		{"1w", "in a week"}, {"1m", "in a month"}, {"1y", "in a year"},
	}
}

// Visibilities are those that the paste of an owner can have.
func (p *formPage) Visibilities() []choice {
	return []choice{
		{paste.Unlisted.String(), "whoever has the link"}, {paste.Public.String(), "everybody, and my profile shows it"},
		{paste.Private.String(), "only I"},
	}
}

// textOf returns what a list to select from says of a value.
func textOf(all []choice, value string) string {
	for _, c := range all {
		if c.Value == value {
			return c.Text
		}
	}
	return value
}

// newPasteForm returns an empty form, which is shown to the user with that id or, where it is empty, to nobody who has signed in.
func newPasteForm(opener user.ID) pasteForm {
	return pasteForm{
		Lifetime: string(paste.Never), Visibility: paste.Unlisted.String(), Opener: string(opener), Snippets: []snippet{{Number: 1}},
	}
}

// readPasteForm returns the form that was sent. It fails with a fault.Invalid when it is none.
func readPasteForm(r *request) (pasteForm, error) {
	sent, err := r.form(maxFormFields)
	if err != nil {
		return pasteForm{}, err
	}
	form := pasteForm{
		Title: sent.Get("title"), Lifetime: cmp.Or(sent.Get("expires"), string(paste.Never)), Tags: sent.Get("tags"),
		Visibility: cmp.Or(sent.Get("visibility"), paste.Unlisted.String()),
		Opener:     sent.Get("opener"), Base: sent.Get("base"), do: sent.Get("do"),
	}
	nth := func(name string, n int) string {
		if values := sent[name]; n < len(values) {
			return values[n]
		}
		return ""
	}
	for i, code := range sent["code"] {
		form.Snippets = append(form.Snippets, snippet{
			Number: i + 1, ID: nth("snippet", i), Name: nth("name", i), Language: nth("language", i),
			Code: strings.ReplaceAll(code, "\r\n", "\n"), // as it was typed: a browser sends each line end as two characters
		})
	}
	if n := len(form.Snippets); n == 0 || n > maxFormSnippets {
		return pasteForm{}, errBrokenForm
	}
	return form, nil
}

// maxFormFields is more than any form has.
const maxFormFields = 4*maxFormSnippets + 20

// change does what a button of the form asks for other than to save it, and reports whether it was one of those.
func (p *formPage) change() bool {
	form := &p.Form
	if form.do == doAdd {
		if len(form.Snippets) == maxFormSnippets {
			p.Wrong = problem{"pasties", fmt.Sprintf("There is no room for more than %d.", maxFormSnippets)}
			return true
		}
		form.Snippets = append(form.Snippets, snippet{Number: len(form.Snippets) + 1, Focused: true})
		return true
	}
	number, ok := strings.CutPrefix(form.do, doRemove)
	if !ok {
		return false
	}
	if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= len(form.Snippets) {
		form.Snippets = slices.Delete(form.Snippets, n-1, n)
		if len(form.Snippets) == 0 {
			form.Snippets = []snippet{{}}
		}
		for i := range form.Snippets {
			form.Snippets[i].Number = i + 1
		}
		form.Snippets[min(n, len(form.Snippets))-1].Focused = true
	}
	return true
}

// openedByOther reports whether the form was shown to somebody who had signed in, and is sent by somebody else who has.
func (f *pasteForm) openedByOther(r *request) bool {
	return f.Opener != "" && r.session.secret != "" && f.Opener != string(r.session.user)
}

// filled returns the snippets that somebody has filled in; if there are none, the first.
func (f *pasteForm) filled() []snippet {
	filled := slices.DeleteFunc(slices.Clone(f.Snippets), func(s snippet) bool { return s.blank() })
	if len(filled) == 0 {
		return f.Snippets[:1]
	}
	return filled
}

// visibility returns which of the two the form asks for. It fails with a fault.Invalid when it asks for what is neither nor unlisted.
func (f *pasteForm) visibility() (private, public bool, err error) {
	switch f.Visibility {
	case paste.Private.String():
		return true, false, nil
	case paste.Public.String():
		return false, true, nil
	case paste.Unlisted.String():
		return false, false, nil
	}
	return false, false, errBrokenForm
}

// draft returns the paste that the form asks for. It fails as visibility does.
func (f *pasteForm) draft() (draft paste.Draft, err error) {
	draft.Title, draft.Tags, draft.Lifetime = f.Title, []string{f.Tags}, &f.Lifetime
	if draft.Private, draft.Public, err = f.visibility(); err != nil {
		return draft, err
	}
	for _, s := range f.filled() {
		wanted := paste.PastyDraft{Title: s.Name, Label: s.Label()}
		if s.Language != "" {
			wanted.Language = &s.Language
		}
		if !s.blank() {
			wanted.Code = &s.Code
		}
		draft.Pasties = append(draft.Pasties, wanted)
	}
	return draft, nil
}

// explain says on the page what a fault.Invalid is about: beside its field, if the page shows that.
func (p *formPage) explain(err error) {
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok || !p.has(failure.Field) {
		p.Wrong.Text = fault.MessageOf(err)
		return
	}
	p.Wrong = problem{failure.Field, strings.ToUpper(failure.Message[:1]) + failure.Message[1:]}
}

// has reports whether the page shows a field that the rules call that.
func (p *formPage) has(field string) bool {
	if slices.Contains([]string{"title", "expiresIn", "tags", "isPrivate, isPublic", "pasties"}, field) {
		return true
	}
	return slices.ContainsFunc(p.Form.Snippets, func(s snippet) bool {
		return slices.Contains([]string{s.Field("title"), s.Field("language"), s.Field("code")}, field)
	})
}

// showForm shows a page with a form, as the answer of that status.
func (p *Pages) showForm(w http.ResponseWriter, r *request, status int, page *formPage) error {
	guard(w, r.personal())
	header, view := w.Header(), p.editingView
	if r.Method == http.MethodPost {
		header["Cache-Control"] = privateCaching // what somebody types is nobody else's
	}
	if page.ID == "" {
		header["Vary"], view = varyAcceptAndCookie, p.frontView
	}
	writeStatus(w, status)
	return write(w, view(page))
}

// Programs find nothing at "/".
var varyAcceptAndCookie = []string{"Accept, Cookie"}

// languageOptions are the languages to select from as HTML, which is made once: a form can have them a hundred times.
type languageOptions struct {
	html   string
	places map[string]place // by name
}

// place is where an option begins and ends.
type place struct{ from, to int }

// languages writes the options, one of which is selected. One that the catalogue does not know is of an import, and comes first.
func (p *Pages) languages(selected string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		all := p.options()
		selected := cmp.Or(selected, paste.Autodetect)
		at := all.places[selected]
		_, err := io.WriteString(w, all.html[:at.from])
		if err == nil {
			err = selectedLanguage(selected).Render(ctx, w)
		}
		if err == nil {
			_, err = io.WriteString(w, all.html[at.to:])
		}
		return err
	})
}

func (p *Pages) newLanguageOptions() languageOptions {
	var names []string
	for _, known := range p.modules.Languages.List.Do() {
		if known.Name != paste.Autodetect {
			names = append(names, known.Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	var html strings.Builder
	places := make(map[string]place)
	for _, name := range slices.Insert(names, 0, paste.Autodetect) { // the first one has it detected
		from := html.Len()
		_ = languageOption(name).Render(context.Background(), &html) // a builder takes everything
		places[name] = place{from, html.Len()}
	}
	return languageOptions{html.String(), places}
}
