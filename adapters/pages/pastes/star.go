package pastes

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

// What the button of a star sends as "do".
const (
	doStar   = "star"
	doUnstar = "unstar"
)

// star stars a paste, or takes the star back, and shows the paste.
func (p *pages) star(w http.ResponseWriter, r *site.Request) error {
	sent, err := r.Fields(1)
	if err != nil {
		return err
	}
	do, id := sent.Get("do"), r.PathValue("id")
	if do != doStar && do != doUnstar {
		return site.ErrBrokenForm
	}
	if err := p.Modules.Pastes.StarSeen.Do(r.Context(), r.Viewer, id, do == doStar); err != nil {
		return err
	}
	site.SeeOther(w, site.PathOfPaste(id))
	return nil
}
