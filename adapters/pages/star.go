package pages

import (
	"net/http"
)

// What the button of a star sends as "do".
const (
	doStar   = "star"
	doUnstar = "unstar"
)

// star stars a paste, or takes the star back, and shows the paste.
func (p *Pages) star(w http.ResponseWriter, r *request) error {
	sent, err := r.form(1)
	if err != nil {
		return err
	}
	do, id := sent.Get("do"), r.PathValue("id")
	if do != doStar && do != doUnstar {
		return errBrokenForm
	}
	if err := p.modules.Pastes.StarSeen.Do(r.Context(), r.viewer, id, do == doStar); err != nil {
		return err
	}
	seeOther(w, pathOfPaste(id))
	return nil
}
