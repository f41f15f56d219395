package pastes

import (
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

func (p *pages) star(w http.ResponseWriter, r *site.Request, sent url.Values) error {
	do, id := sent.Get("do"), r.PathValue("id")
	if do != "star" && do != "unstar" {
		return site.ErrBrokenForm
	}
	return site.Done(w, site.PathOfPaste(id), p.Modules.Pastes.StarSeen.Do(r.Context(), r.Viewer, id, do == "star"))
}
