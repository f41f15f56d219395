package editor

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
)

// ownPaste returns the paste in the path. It fails with fault.NotFound if the viewer does not own it.
func (p *pages) ownPaste(r *site.Request) (paste.Document, error) {
	doc, err := p.Read(r)
	if err == nil && !doc.OwnedBy(r.Viewer.User.ID) {
		err = paste.ErrNotFound
	}
	return doc, err
}

var errTooLarge = fault.New(fault.Invalid, "This paste is too large to edit on a page. Use the API.")

// editForm returns the form for a paste. It fails with fault.Invalid if the paste is too large.
func editForm(doc *paste.Document) (form pasteForm, err error) {
	form = pasteForm{
		Title: asLine(doc.Title), Visibility: doc.Visibility.String(), Tags: asLine(strings.Join(doc.Tags, ", ")),
		SignedIn: true, Base: doc.Revision(),
	}
	size := 0
	for i, pasty := range doc.Pasties {
		// A browser sends each line end as two characters, and a header for each field.
		size += len(pasty.Title) + len(pasty.Code) + strings.Count(pasty.Code, "\n") + 1<<10
		form.Snippets = append(form.Snippets, snippet{
			Number: i + 1, ID: pasty.ID, Name: asLine(pasty.Title), Language: cmp.Or(asLine(pasty.Language), paste.Autodetect),
			Code: pasty.Code,
		})
	}
	if len(form.Snippets) > maxFormSnippets || size > site.MaxShownBytes {
		return form, errTooLarge
	}
	if len(form.Snippets) == 0 {
		form.Snippets = []snippet{{Number: 1}}
	}
	return form, nil
}

// Browsers change even the values that nobody edits: they replace U+0000, normalise line ends in text areas, and remove
// them in inputs. To find out what was edited, submitted values are compared with stored ones after the same changes.
var (
	textArea = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd")
	asLine   = strings.NewReplacer("\r", "", "\n", "", "\x00", "\ufffd").Replace
)

// asText returns a text as a browser sends it from a text area.
func asText(text string) string {
	if !strings.ContainsAny(text, "\r\x00") { // most texts need no copy
		return text
	}
	return textArea.Replace(text)
}

// changes returns the differences between the form and the stored paste.
func (f *pasteForm) changes(doc *paste.Document) (changes paste.Changes, err error) {
	private, public, err := f.visibility()
	if err != nil {
		return changes, err
	}
	before, err := editForm(doc)
	if err != nil {
		return changes, err
	}
	changes = paste.Changes{
		Private: &private, Public: &public, Title: unlessEqual(f.Title, before.Title),
		Base: cmp.Or(f.Base, "none"), // "none" is not a revision
	}
	if f.Tags != before.Tags {
		changes.Tags = []string{f.Tags}
	}
	for _, s := range f.filledSnippets() {
		pasty := paste.PastyChanges{ID: s.ID, Title: &s.Name, Label: s.Label()}
		pasty.Language, pasty.Code = s.content()
		if i := slices.IndexFunc(before.Snippets, func(b snippet) bool { return b.ID == s.ID }); s.ID != "" && i >= 0 {
			old := before.Snippets[i]
			before.Snippets = slices.Delete(before.Snippets, i, i+1) // an imported paste may have an id twice
			pasty.Title, pasty.Code = unlessEqual(s.Name, old.Name), unlessEqual(restoreLineEnds(old.Code, s.Code), old.Code)
			if s.Language == old.Language {
				pasty.Language = nil
			}
		}
		changes.Pasties = append(changes.Pasties, pasty)
	}
	return changes, nil
}

func unlessEqual(value, before string) *string {
	if value == before {
		return nil
	}
	return &value
}

func (p *pages) newEditPage(r *site.Request, doc *paste.Document, form pasteForm) *formPage {
	title := site.TitleOf(doc)
	return &formPage{
		Layout: r.Layout("Edit "+marks.Plain(title), ""), ID: string(doc.ID), Heading: marks.Text(title), Form: form,
		Start: p.startLanguage(r), Owned: true,
	}
}

// editing shows the form for the viewer's own paste. Visitors must sign in first, whether or not there is one.
func (p *pages) editing(w http.ResponseWriter, r *site.Request) error {
	doc, err := p.ownPaste(r)
	if err != nil {
		return err
	}
	form, err := editForm(&doc)
	if err != nil {
		return err
	}
	return p.showForm(w, r, http.StatusOK, p.newEditPage(r, &doc, form))
}

func (p *pages) edit(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if !ident.Valid(r.PathValue("id")) {
		return paste.ErrNotFound
	}
	form, err := readPasteForm(fields)
	switch {
	case err != nil:
		return err
	case !r.Viewer.SignedIn():
		return p.showUnsaved(w, r, form)
	}
	if err = p.save(w, r, form); fault.Is(err, fault.NotFound) {
		return p.recreate(w, r, form)
	}
	return err
}

// save changes the paste, or shows the form again. It fails with fault.NotFound if the paste is gone.
func (p *pages) save(w http.ResponseWriter, r *site.Request, form pasteForm) error {
	doc, err := p.ownPaste(r)
	if err != nil {
		return err
	}
	page := p.newEditPage(r, &doc, form)
	if status := page.change(); status != 0 {
		return p.showForm(w, r, status, page)
	}
	changes, err := form.changes(&doc)
	if err == nil {
		_, err = p.Modules.Pastes.EditOwn.Do(r.Context(), r.Actor(), page.ID, changes)
	}
	switch fault.KindOf(err) {
	case fault.None:
		return p.SeeOther(w, site.PathOfPaste(page.ID))
	case fault.Invalid:
		page.explain(err)
		return p.showForm(w, r, http.StatusBadRequest, page)
	case fault.Conflict:
		return p.showConflict(w, r, page)
	default:
		return err
	}
}

// showUnsaved shows the form again after the session has ended. It shows only the submitted values, which do not reveal
// whether the paste exists.
func (p *pages) showUnsaved(w http.ResponseWriter, r *site.Request, form pasteForm) error {
	doc := paste.Document{
		Paste: paste.Paste{ID: paste.ID(r.PathValue("id"))}, Content: paste.Content{Title: form.Title},
	}
	page := p.newEditPage(r, &doc, form)
	page.Wrong.Text = signInToSend
	return p.showForm(w, r, http.StatusUnauthorized, page)
}

// recreate shows the form again as one for a new paste, because the edited paste is gone.
func (p *pages) recreate(w http.ResponseWriter, r *site.Request, form pasteForm) error {
	form.Base = ""
	for i := range form.Snippets {
		form.Snippets[i].ID = ""
	}
	page := p.newFormPage(r, form)
	page.Wrong.Text = "This paste no longer exists: it was deleted, or it expired. Nothing is lost: " +
		"save to create a new paste from what you have typed."
	return p.showForm(w, r, http.StatusNotFound, page)
}

// showConflict shows the form again after a conflicting edit. Saving it again replaces the paste; the history keeps the
// other edit.
func (p *pages) showConflict(w http.ResponseWriter, r *site.Request, page *formPage) error {
	doc, err := p.ownPaste(r)
	if err != nil {
		return err
	}
	page.Form.Base = doc.Revision()
	for i := range page.Form.Snippets {
		if _, err := doc.Pasty(page.Form.Snippets[i].ID); err != nil { // removed by the other edit
			page.Form.Snippets[i].ID = ""
		}
	}
	page.Edited = true
	page.Wrong.Text = "This paste was edited while you were writing, and nothing is saved yet. Here is what you have " +
		"typed. Saving again replaces the paste with it; the history keeps the other edit."
	return p.showForm(w, r, http.StatusConflict, page)
}
