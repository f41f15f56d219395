package pages

import (
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// burning asks whether to open a paste that burns after reading. It holds nothing of the paste.
func (p *Pages) burning(w http.ResponseWriter, r *request, encrypted bool) error {
	page := pastePage{layout: r.layout("A paste that burns after reading", ""), ID: r.PathValue("id")}
	if key, unseen := r.deleteKey(); unseen {
		page.Key = string(key)
		setDeleteKey(w, r.Request, page.ID, page.Key)
	}
	return show(w, r, p.burningView(page, encrypted))
}

// keeper is a writer that can be told that what is written is nowhere else, and has to be sent however little memory there is.
type keeper interface{ Keep() }

// open shows a paste that is gone with that. What could refuse to show it is asked before.
func (p *Pages) open(w http.ResponseWriter, r *request) error {
	leave, err := p.large.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	opened, err := p.modules.Pastes.Open.Do(r.Context(), r.viewer, r.PathValue("id"))
	if err != nil {
		return err
	}
	if answer, ok := w.(keeper); ok {
		answer.Keep()
	}
	w.Header()["Cache-Control"] = privateCaching
	page := newPastePage(r, &opened)
	page.Burnt = true
	if opened.Encrypted() {
		return p.showEncrypted(w, r, page, opened.Cipher)
	}
	return p.showPaste(w, r, page, &opened)
}

// cipher is what an encrypted paste is opened from by its page's script.
type cipher struct {
	Version    int
	Salt, Data string // in base64url
}

func (p *Pages) showEncrypted(w http.ResponseWriter, r *request, page pastePage, stored *paste.Cipher) error {
	if !page.Burnt { // which has its place already
		leave, err := p.enter(r.Context(), len(stored.Data))
		if err != nil {
			return err
		}
		defer leave()
	}
	return show(w, r, p.encryptedView(page, cipher{
		stored.Version, base64.RawURLEncoding.EncodeToString(stored.Salt), base64.RawURLEncoding.EncodeToString(stored.Data),
	}))
}

// readAny returns the paste that the path names, also an encrypted one. It fails with paste.ErrBurns for one that can be opened once, and
// tells of that, too, whether it is encrypted.
func (p *Pages) readAny(r *request) (found paste.Document, encrypted bool, err error) {
	found, err = p.modules.Pastes.Read.Do(r.Context(), r.viewer, r.PathValue("id"))
	if !fault.Is(err, fault.NotFound) || errors.Is(err, paste.ErrBurns) {
		return found, false, err
	}
	found, err = p.modules.Pastes.ReadCipher.Do(r.Context(), r.viewer, r.PathValue("id"))
	return found, true, err
}

// unopened returns what readAny does, and of a paste that can be opened once, so much as may be known.
func (p *Pages) unopened(r *request) (paste.Document, error) {
	found, _, err := p.readAny(r)
	if errors.Is(err, paste.ErrBurns) {
		found.ID, found.Title, found.Burns = paste.ID(r.PathValue("id")), "A paste that burns after reading", true
		return found, nil
	}
	return found, p.explained(r, err)
}
