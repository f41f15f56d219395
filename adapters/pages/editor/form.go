package editor

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// maxFormSnippets is the limit of snippets on a form. Pastes with more are edited with the API.
const maxFormSnippets = 100

var errTooMany = fault.New(fault.Invalid, fmt.Sprintf("This form takes at most %d snippets. Use the API for more.",
	maxFormSnippets))

// Values of the form's buttons, which are named "do". The snippet's number follows doRemove.
const (
	doAdd    = "add"
	doRemove = "remove-"
)

// pasteForm has the submitted values of the form.
type pasteForm struct {
	Title, Lifetime, Visibility, Tags string
	Snippets                          []snippet
	Burns                             bool          // after reading
	SignedIn                          bool          // the viewer was signed in when the form was shown
	Base                              string        // the revision of the edited paste
	Origin                            string        // the id of the forked paste
	Cipher                            *paste.Cipher // from the browser, in place of title, snippets and tags
	do                                string
	notText                           []string // names of files that are not text
}

type snippet struct {
	Number                   int    // begins at 1
	ID, Name, Language, Code string // ID is "" for a new snippet
	Focused                  bool
}

// Label returns the name of the snippet in errors.
func (s *snippet) Label() string { return "snippet " + strconv.Itoa(s.Number) }

// Field returns the name of a field of the snippet in errors.
func (s *snippet) Field(name string) string { return paste.FieldOf(name, s.Label()) }

// fieldOriginal is the field with the code of a new snippet in base64. It is empty unless a text area would change the
// code: files keep their line ends.
const fieldOriginal = "original"

// Original returns the value of fieldOriginal. It is empty for a stored snippet, because the server has its code.
func (s *snippet) Original() string {
	if s.ID != "" || asText(s.Code) == s.Code {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(s.Code))
}

// languageField returns the value of the language field. It is empty if the language is to be detected.
func (s *snippet) languageField() string {
	if s.Language == paste.Autodetect {
		return ""
	}
	return s.Language
}

// blank reports whether the snippet is empty.
func (s *snippet) blank() bool { return s.ID == "" && s.Name == "" && s.Code == "" }

// content returns the language and the code. An empty one is nil.
func (s *snippet) content() (language, code *string) {
	if !s.blank() {
		code = &s.Code
	}
	return unlessEqual(s.Language, ""), code
}

type formPage struct {
	site.Layout

	ID        string     // of the edited paste, or "" for a new one
	Heading   marks.Text // its title
	Form      pasteForm
	Start     string // the language of new snippets
	Owned     bool   // show the fields for owners
	Closed    bool   // creating needs a signed-in user
	Deleted   bool   // the viewer has just deleted a paste
	Lifetimes paste.Lifetimes
	Edited    bool // somebody else has edited the paste since the form was shown
	Wrong     problem
}

// problem is an error in a field of the form, or in the whole form if Field is empty.
type problem struct{ Field, Text string }

// Problem returns the error in a field, or "".
func (p *formPage) Problem(field string) string {
	if p.Wrong.Field == field {
		return p.Wrong.Text
	}
	return ""
}

// verbatim keeps browsers from correcting the text of a field.
var verbatim = templ.Attributes{"autocapitalize": "off", "autocorrect": "off", "spellcheck": "false"}

// invalid returns the attributes of a field with a problem: the field gets the focus, and the problem describes it.
func invalid(id, problem string) templ.Attributes {
	if problem == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": id + "-problem", "autofocus": true}
}

// area returns the attributes of the text area with a snippet's code. On a new form it gets the focus.
func (p *formPage) area(s *snippet) templ.Attributes {
	area := maps.Clone(verbatim)
	maps.Copy(area, invalid("code-"+strconv.Itoa(s.Number), p.Problem(s.Field("code"))))
	if s.Number == 1 && len(p.Form.Snippets) == 1 && p.ID == "" && p.Wrong.Text == "" && !s.Focused {
		area["autofocus"] = true
	}
	return area
}

// lifetimeChoices are the lifetimes to choose from, with their labels.
var lifetimeChoices = [][2]string{
	{"never", "Never"}, {"1h", "After 1 hour"}, {"2h", "After 2 hours"}, {"10h", "After 10 hours"},
	{"1d", "After 1 day"}, {"2d", "After 2 days"}, {"1w", "After 1 week"}, {"1m", "After 1 month"},
	{"1y", "After 1 year"},
}

// startLanguage returns the viewer's default language for new snippets, or "" to detect it.
func (p *pages) startLanguage(r *site.Request) string {
	lang, err := p.Modules.Languages.FindByName.Do(r.Viewer.User.DefaultLanguage)
	if err != nil {
		return ""
	}
	return lang.Name
}

// readPasteForm reads a submitted form. It fails with fault.Invalid.
func readPasteForm(fields url.Values) (pasteForm, error) {
	form := pasteForm{
		Title: fields.Get("title"), Lifetime: fields.Get("expires"), Tags: fields.Get("tags"),
		Visibility: cmp.Or(fields.Get("visibility"), paste.Unlisted.String()),
		Burns:      fields.Has("burn"),
		SignedIn:   fields.Get("signed-in") != "",
		Base:       fields.Get("base"), Origin: fields.Get("origin"), do: fields.Get("do"),
	}
	if fields.Has("encrypt") {
		return form, form.readCipher(fields)
	}
	nth := func(name string, n int) string {
		if values := fields[name]; n < len(values) {
			return values[n]
		}
		return ""
	}
	for i, code := range fields["code"] {
		original, err := base64.StdEncoding.DecodeString(nth(fieldOriginal, i))
		if err != nil || !utf8.Valid(original) {
			return pasteForm{}, site.ErrBrokenForm
		}
		code = strings.ReplaceAll(code, "\r\n", "\n") // browsers send line ends as CRLF
		form.Snippets = append(form.Snippets, snippet{
			Number: i + 1, ID: nth("snippet", i), Name: nth("name", i), Language: cmp.Or(nth("language", i), paste.Autodetect),
			Code: restoreLineEnds(string(original), code),
		})
	}
	for i, code := range fields[site.FieldFile] {
		form.add(nth(site.FieldFileName, i), code)
	}
	switch n := len(form.Snippets); {
	case n == 0:
		return pasteForm{}, site.ErrBrokenForm
	case n > maxFormSnippets:
		return pasteForm{}, errTooMany
	}
	return form, nil
}

var errUnencrypted = fault.New(fault.Invalid,
	"Your browser did not encrypt the paste, so nothing was stored. Reload the page, and send it again.")

// readCipher reads the fields of an encrypted paste. It fails with fault.Invalid.
func (f *pasteForm) readCipher(fields url.Values) error {
	version, err := strconv.Atoi(fields.Get("version"))
	data, dataErr := base64.RawURLEncoding.DecodeString(fields.Get("cipher"))
	salt, saltErr := base64.RawURLEncoding.DecodeString(fields.Get("salt"))
	if errors.Join(err, dataErr, saltErr) != nil || fields.Has("code") || fields.Has("title") || fields.Has("tags") {
		return errUnencrypted
	}
	f.Cipher = &paste.Cipher{Version: version, Data: data, Salt: salt}
	return nil
}

// add adds a file as a snippet. It replaces the last snippet if that is blank.
func (f *pasteForm) add(name, code string) {
	if !utf8.ValidString(code) {
		f.notText = append(f.notText, name)
		return
	}
	if n := len(f.Snippets); n > 0 && f.Snippets[n-1].blank() {
		f.Snippets = f.Snippets[:n-1]
	}
	f.Snippets = append(f.Snippets, snippet{
		Number: len(f.Snippets) + 1, Name: name, Language: paste.Autodetect, Code: code,
	})
}

// change handles all buttons but save. It returns the status of the page, or 0 if the form is to be saved.
func (p *formPage) change() (status int) {
	form := &p.Form
	if len(form.notText) > 0 {
		p.Wrong = problem{site.FieldFile, fmt.Sprintf("Left out because they are not UTF-8 text: %s.",
			strings.Join(form.notText, ", "))}
		return http.StatusBadRequest
	}
	if form.do == doAdd {
		if n := len(form.Snippets); n < maxFormSnippets {
			form.Snippets = append(form.Snippets, snippet{Number: n + 1, Language: p.Start, Focused: true})
		} else {
			p.Wrong = problem{"pasties", fmt.Sprintf("A paste can have at most %d snippets here.", maxFormSnippets)}
		}
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

// filledSnippets returns the snippets that are not blank, or the first one.
func (f *pasteForm) filledSnippets() []snippet {
	snippets := slices.DeleteFunc(slices.Clone(f.Snippets), func(s snippet) bool { return s.blank() })
	if len(snippets) == 0 {
		return f.Snippets[:1]
	}
	return snippets
}

// visibility parses the visibility. A paste that is neither private nor public is unlisted. It fails with
// fault.Invalid.
func (f *pasteForm) visibility() (private, public bool, err error) {
	private, public = f.Visibility == paste.Private.String(), f.Visibility == paste.Public.String()
	if !private && !public && f.Visibility != paste.Unlisted.String() {
		err = site.ErrBrokenForm
	}
	return private, public, err
}

// draft returns the form as a draft of a paste. It fails with fault.Invalid.
func (f *pasteForm) draft() (draft paste.Draft, err error) {
	draft.Title, draft.Tags, draft.Origin, draft.Burns = f.Title, []string{f.Tags}, paste.ID(f.Origin), f.Burns
	draft.Lifetime = &f.Lifetime
	if draft.Private, draft.Public, err = f.visibility(); err != nil {
		return draft, err
	}
	if draft.Cipher = f.Cipher; f.Cipher != nil {
		return draft, nil
	}
	for _, s := range f.filledSnippets() {
		language, code := s.content()
		draft.Pasties = append(draft.Pasties, paste.PastyDraft{Title: s.Name, Label: s.Label(),
			Language: language, Code: code})
	}
	return draft, nil
}

// hiddenFields are fields in errors of the domain that the page does not show.
var hiddenFields = []string{"", "origin", "version", "cipher", "salt"}

// explain shows an error beside its field, or above the form if the page does not show the field.
func (p *formPage) explain(err error) {
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok || p.Form.Cipher != nil || slices.Contains(hiddenFields, failure.Field) {
		p.Wrong.Text = fault.MessageOf(err)
		return
	}
	p.Wrong = problem{failure.Field, strings.ToUpper(failure.Message[:1]) + failure.Message[1:]}
}

func (p *pages) showForm(w http.ResponseWriter, r *site.Request, status int, page *formPage) error {
	page.Nonce = site.NewNonce()
	r.Policy = site.FormPolicy(page.Nonce)
	if page.ID == "" {
		return site.ShowAs(w, r, status, p.frontView(page))
	}
	return site.ShowAs(w, r, status, p.editingView(page))
}
