package pages

import (
	"net/http"
)

// burning asks whether to open a paste that burns after reading. It holds nothing of the paste.
func (p *Pages) burning(w http.ResponseWriter, r *request) error {
	id := r.PathValue("id")
	return show(w, r, p.burningView(pastePage{layout: r.layout("A paste that burns after reading", ""), ID: id}))
}

// open shows a paste that is gone with that.
func (p *Pages) open(w http.ResponseWriter, r *request) error {
	opened, err := p.modules.Pastes.Open.Do(r.Context(), r.viewer, r.PathValue("id"))
	if err != nil {
		return err
	}
	w.Header()["Cache-Control"] = privateCaching
	page := newPastePage(r, &opened)
	page.Burnt = true
	return p.showPaste(w, r, page, &opened)
}
