package editor

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// maxFormSnippets is how many snippets a form has room for. A paste can have more, which programs edit.
const maxFormSnippets = 100

// Values of the form's buttons, "do". The one that removes a snippet is followed by its number.
const (
	doAdd    = "add"
	doRemove = "remove-"
)

// lifeBurn is what the list of lifetimes sends for a paste that burns after reading.
const lifeBurn = "burn"

// pasteForm is a paste as it is filled in. It is shown again as it was sent, whatever becomes of it.
type pasteForm struct {
	Title, Lifetime, Visibility, Tags string
	Snippets                          []snippet
	Opener                            string        // the id of who had signed in when it was shown, or ""
	Base                              string        // the revision of the paste that is edited
	Origin                            string        // the id of the paste that is forked
	Cipher                            *paste.Cipher // what the browser has encrypted, instead of title, snippets and tags
	do                                string
	refused                           []string // the names of files that are no text
}

type snippet struct {
	Number                   int    // from 1
	ID, Name, Language, Code string // the id is empty for one that is new
	Focused                  bool
	Now                      *snippet // the current paste, if it was edited meanwhile
	Restored                 bool     // it was not on the form, and is there meanwhile
}

// Label returns what errors call the snippet.
func (s *snippet) Label() string { return "snippet " + strconv.Itoa(s.Number) }

// Field returns what errors call a field of the snippet.
func (s *snippet) Field(name string) string { return paste.FieldOf(name, s.Label()) }

// blank reports whether the snippet is not filled in.
func (s *snippet) blank() bool { return s.ID == "" && s.Name == "" && s.Code == "" }

// filled returns the language and the code, nil where empty.
func (s *snippet) filled() (language, code *string) {
	if s.blank() {
		return unlessEqual(s.Language, ""), nil
	}
	return unlessEqual(s.Language, ""), &s.Code
}

type formPage struct {
	site.Layout

	ID      string     // of the paste that is edited; empty: the form creates one
	Heading marks.Text // its title
	Form    pasteForm
	Start   string // the language of new snippets
	Owned   bool   // its reader will own the paste, or has filled in what only an owner can
	Closed  bool   // a new paste needs a signed-in user
	Lives   paste.Lifetimes
	Now     *pasteForm // what the paste is meanwhile
	Wrong   problem
}

// problem is an error in a form: in one of its fields, or in all of it if field is empty.
type problem struct{ Field, Text string }

// Problem returns the error in the field of that name, or "".
func (p *formPage) Problem(field string) string {
	if p.Wrong.Field == field {
		return p.Wrong.Text
	}
	return ""
}

type choice struct{ Value, Text string }

// Lifetimes are the lifetimes to choose from.
func (p *formPage) Lifetimes() []choice {
	all := []choice{
		{"never", "never"}, {"1h", "in an hour"}, {"2h", "in two hours"}, {"10h", "in ten hours"}, {"1d", "in a day"}, {"2d", "in two days"},
		{"1w", "in a week"}, {"1m", "in a month"}, {"1y", "in a year"},
	}
	all = slices.DeleteFunc(all, func(c choice) bool { return !p.Lives.Allows(paste.Lifetime(c.Value)) })
	return append(all, choice{lifeBurn, "after it was read once"})
}

// Visibilities are those that the paste of an owner can have.
func (p *formPage) Visibilities() []choice {
	return []choice{
		{paste.Unlisted.String(), "everybody who has the link"}, {paste.Public.String(), "everybody, and my profile shows it"},
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

// newPasteForm returns an empty form. The opener is the id of the reader who has signed in, or empty.
func newPasteForm(opener user.ID, language string) pasteForm {
	return pasteForm{
		Visibility: paste.Unlisted.String(), Opener: string(opener),
		Snippets: []snippet{{Number: 1, Language: language}},
	}
}

// startLanguage returns the language that new snippets of the reader start with, or "" to have it detected.
func (p *pages) startLanguage(r *site.Request) string {
	found, err := p.Modules.Languages.FindByName.Do(r.Viewer.User.DefaultLanguage)
	if err != nil {
		return ""
	}
	return found.Name
}

// readPasteForm returns the form that was sent. It fails with a fault.Invalid when it is none.
func readPasteForm(r *site.Request) (pasteForm, error) {
	sent, err := r.Fields(maxFormFields)
	if err != nil {
		return pasteForm{}, err
	}
	form := pasteForm{
		Title: sent.Get("title"), Lifetime: sent.Get("expires"), Tags: sent.Get("tags"),
		Visibility: cmp.Or(sent.Get("visibility"), paste.Unlisted.String()),
		Opener:     sent.Get("opener"), Base: sent.Get("base"), Origin: sent.Get("origin"), do: sent.Get("do"),
	}
	if sent.Has("encrypt") {
		return form, form.readCipher(sent)
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
	for i, code := range sent[site.FieldFile] {
		form.add(nth(site.FieldFileName, i), code)
	}
	if n := len(form.Snippets); n == 0 || n > maxFormSnippets {
		return pasteForm{}, site.ErrBrokenForm
	}
	return form, nil
}

var errUnencrypted = fault.New(fault.Invalid,
	"The browser has not encrypted this, so nothing is stored. Reload the form, and send it again.")

// readCipher reads what a browser has encrypted. It fails with a fault.Invalid.
func (f *pasteForm) readCipher(sent url.Values) error {
	version, err := strconv.Atoi(sent.Get("version"))
	if err != nil || sent.Has("code") || sent.Has("title") || sent.Has("tags") {
		return errUnencrypted
	}
	f.Cipher = &paste.Cipher{Version: version}
	if f.Cipher.Data, err = base64.RawURLEncoding.DecodeString(sent.Get("cipher")); err != nil {
		return errUnencrypted
	}
	if f.Cipher.Salt, err = base64.RawURLEncoding.DecodeString(sent.Get("salt")); err != nil {
		return errUnencrypted
	}
	return nil
}

// add adds a chosen file as a snippet, or fills an empty one.
func (f *pasteForm) add(name, code string) {
	if !utf8.ValidString(code) {
		f.refused = append(f.refused, name)
		return
	}
	if n := len(f.Snippets); n > 0 && f.Snippets[n-1].blank() {
		f.Snippets = f.Snippets[:n-1]
	}
	f.Snippets = append(f.Snippets, snippet{
		Number: len(f.Snippets) + 1, Name: name, Language: paste.Autodetect, Code: strings.ReplaceAll(code, "\r\n", "\n"),
	})
}

// maxFormFields is more than any form has.
const maxFormFields = 5*maxFormSnippets + 20

// change does what a button of the form asks for other than to save it, and returns the status of the page then; 0: it was none of those.
func (p *formPage) change() (status int) {
	form := &p.Form
	if len(form.refused) > 0 {
		p.Wrong = problem{site.FieldFile, fmt.Sprintf("Not text in UTF-8, and left out: %s.", strings.Join(form.refused, ", "))}
		return http.StatusBadRequest
	}
	if form.do == doAdd {
		if len(form.Snippets) == maxFormSnippets {
			p.Wrong = problem{"pasties", fmt.Sprintf("There is no room for more than %d.", maxFormSnippets)}
			return http.StatusOK
		}
		form.Snippets = append(form.Snippets, snippet{Number: len(form.Snippets) + 1, Language: p.Start, Focused: true})
		return http.StatusOK
	}
	number, ok := strings.CutPrefix(form.do, doRemove)
	if !ok {
		return 0
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
	return http.StatusOK
}

// openedByOther reports whether the form was shown to one signed-in user, and is sent by another.
func (f *pasteForm) openedByOther(r *site.Request) bool {
	return f.Opener != "" && r.Viewer.SignedIn() && f.Opener != string(r.Viewer.User.ID)
}

// filled returns the snippets that are filled in; if there are none, the first.
func (f *pasteForm) filled() []snippet {
	filled := slices.DeleteFunc(slices.Clone(f.Snippets), func(s snippet) bool { return s.blank() })
	if len(filled) == 0 {
		return f.Snippets[:1]
	}
	return filled
}

// visibility returns which of the two the form asks for. It fails with a fault.Invalid when it asks for what is neither nor unlisted.
func (f *pasteForm) visibility() (private, public bool, err error) {
	private, public = f.Visibility == paste.Private.String(), f.Visibility == paste.Public.String()
	if !private && !public && f.Visibility != paste.Unlisted.String() {
		err = site.ErrBrokenForm
	}
	return private, public, err
}

// draft returns the paste that the form asks for. It fails as visibility does.
func (f *pasteForm) draft() (draft paste.Draft, err error) {
	draft.Title, draft.Tags, draft.Origin, draft.Burns = f.Title, []string{f.Tags}, paste.ID(f.Origin), f.Lifetime == lifeBurn
	if !draft.Burns {
		draft.Lifetime = &f.Lifetime
	}
	if draft.Private, draft.Public, err = f.visibility(); err != nil {
		return draft, err
	}
	if draft.Cipher = f.Cipher; f.Cipher != nil {
		return draft, nil
	}
	for _, s := range f.filled() {
		language, code := s.filled()
		draft.Pasties = append(draft.Pasties, paste.PastyDraft{Title: s.Name, Label: s.Label(), Language: language, Code: code})
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

func (p *pages) showForm(w http.ResponseWriter, r *site.Request, status int, page *formPage) error {
	site.Guard(w, r)
	view := p.editingView
	if r.Method == http.MethodPost {
		site.KeepPrivate(w) // keep typed text out of caches
	}
	if page.ID == "" {
		view = p.frontView
		w.Header().Set("Content-Security-Policy", site.FormPolicy)
	}
	site.WriteStatus(w, status)
	return site.Write(r.Context(), w, view(page))
}
