package pastes

import (
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// burning asks whether to open a paste that burns after reading, and shows nothing of it. The browser that created the
// paste gets the link instead.
func (p *pages) burning(w http.ResponseWriter, r *site.Request, encrypted bool) error {
	page := newPastePage(r, unopenedPaste(r))
	p.setLink(r, &page) // keeps the cookie, so that a reload does not offer to burn the paste
	page.Encrypted = encrypted
	key, unseen := r.DeleteKey()
	if unseen {
		page.Key, page.Fixed = string(key), true
		site.ShowsSecret(w)
		site.SetDeleteKey(w, r, r.PathValue("id"), page.Key)
	}
	page.HasKey = key != "" || page.Created
	return site.Show(w, r, p.burningView(page), nil)
}

// open deletes a paste and shows it. Whatever could fail happens before the deletion.
func (p *pages) open(w http.ResponseWriter, r *site.Request) error {
	leave, err := p.Large.Wait(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	doc, err := p.Modules.Pastes.Open.Do(r.Context(), r.Actor(), r.PathValue("id"))
	if err != nil {
		return err
	}
	page := newPastePage(r, &doc)
	page.Burnt = true
	return p.showPaste(w, r, page)
}

// afterOpen redirects to the page of a paste, which is gone, a browser that returns to where it opened the paste.
func (p *pages) afterOpen(w http.ResponseWriter, r *site.Request) error {
	return p.SeeOther(w, site.PathOfPaste(r.PathValue("id")))
}

var inBase64 = base64.RawURLEncoding.EncodeToString

// readAny returns the paste in the path, and whether it is encrypted. For a paste that burns after reading it fails
// with paste.ErrBurns, and still reports whether it is encrypted.
func (p *pages) readAny(r *site.Request) (doc paste.Document, encrypted bool, err error) {
	doc, err = p.Modules.Pastes.Read.Do(r.Context(), r.Viewer, r.PathValue("id"))
	if !fault.Is(err, fault.NotFound) || errors.Is(err, paste.ErrBurns) {
		return doc, false, err
	}
	doc, err = p.Modules.Pastes.Read.Cipher(r.Context(), r.Viewer, r.PathValue("id"))
	return doc, true, err
}

// unopenedPaste stands for a paste that burns after reading: it has nothing of its content.
func unopenedPaste(r *site.Request) *paste.Document {
	return &paste.Document{
		Paste:   paste.Paste{ID: paste.ID(r.PathValue("id")), Burns: true},
		Content: paste.Content{Title: "A paste that burns after reading"},
	}
}

// unopened returns the paste in the path, or unopenedPaste if it burns after reading.
func (p *pages) unopened(r *site.Request) (paste.Document, error) {
	doc, _, err := p.readAny(r)
	if errors.Is(err, paste.ErrBurns) {
		return *unopenedPaste(r), nil
	}
	return doc, p.Explained(r, err)
}
