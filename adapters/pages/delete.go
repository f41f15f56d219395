package pages

import (
	"net/http"
)

// deletion asks whether to delete a paste.
func (p *Pages) deletion(w http.ResponseWriter, r *request) error {
	stored, err := p.ownPaste(r)
	if err != nil {
		return err
	}
	page := newPastePage(r, &stored)
	page.Title, page.Description = "Delete "+page.Title, ""
	return show(w, r, p.deletionView(page))
}

// delete deletes a paste and shows what is left.
func (p *Pages) delete(w http.ResponseWriter, r *request) error {
	if _, err := p.ownPaste(r); err != nil {
		return err
	}
	if err := p.modules.Pastes.DeleteOwn.Do(r.Context(), r.session.secret, r.parameters[0]); err != nil {
		return err
	}
	seeOther(w, pathPastes)
	return nil
}
