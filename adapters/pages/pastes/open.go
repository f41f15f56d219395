package pastes

import (
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// burning asks whether to open a paste that burns after reading. It shows nothing of the paste. The browser that has
// created it gets the link instead.
func (p *pages) burning(w http.ResponseWriter, r *site.Request, encrypted bool) error {
	page := newPastePage(r, unopenedPaste(r))
	p.handOver(r, &page) // it is not forgotten, so that a reload does not offer to burn the paste
	page.Sealed = encrypted
	key, unseen := r.DeleteKey()
	if unseen {
		page.Key, page.Fixed = string(key), true
		site.ShowsSecret(w)
		site.SetDeleteKey(w, r, r.PathValue("id"), page.Key)
	}
	page.Keyed = key != "" || page.Created
	return site.Show(w, r, p.burningView(page), nil)
}

// open deletes a paste and shows it. What could fail comes before the deletion.
func (p *pages) open(w http.ResponseWriter, r *site.Request) error {
	leave, err := p.Large.Wait(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	opened, err := p.Modules.Pastes.Open.Do(r.Context(), r.Actor(), r.PathValue("id"))
	if err != nil {
		return err
	}
	page := newPastePage(r, &opened)
	page.Burnt = true
	return p.showPaste(w, r, page)
}

// opened redirects a browser that returns to the address of an opened paste to the page of the paste, which is gone.
func (p *pages) opened(w http.ResponseWriter, r *site.Request) error {
	return p.SeeOther(w, site.PathOfPaste(r.PathValue("id")))
}

var inBase64 = base64.RawURLEncoding.EncodeToString

// readAny returns the paste in the path, and whether it is encrypted. For a paste that burns after reading it fails
// with paste.ErrBurns, and still reports whether it is encrypted.
func (p *pages) readAny(r *site.Request) (found paste.Document, encrypted bool, err error) {
	found, err = p.Modules.Pastes.Read.Do(r.Context(), r.Viewer, r.PathValue("id"))
	if !fault.Is(err, fault.NotFound) || errors.Is(err, paste.ErrBurns) {
		return found, false, err
	}
	found, err = p.Modules.Pastes.Read.Cipher(r.Context(), r.Viewer, r.PathValue("id"))
	return found, true, err
}

// unopenedPaste is what is shown of a paste that burns after reading.
func unopenedPaste(r *site.Request) *paste.Document {
	return &paste.Document{
		Paste:   paste.Paste{ID: paste.ID(r.PathValue("id")), Burns: true},
		Content: paste.Content{Title: "A paste that burns after reading"},
	}
}

// unopened is readAny, with unopenedPaste for a paste that burns after reading.
func (p *pages) unopened(r *site.Request) (paste.Document, error) {
	found, _, err := p.readAny(r)
	if errors.Is(err, paste.ErrBurns) {
		return *unopenedPaste(r), nil
	}
	return found, p.Explained(r, err)
}
