package pastes

import (
	"crypto/rand"
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/markdown"
	"github.com/gluepot/gluepot/adapters/pages/site"
)

// pathPreview takes the Markdown in the editor, and answers with a page that shows it rendered.
const pathPreview = "/preview"

// preview renders Markdown as the page of a paste would, for those who may create one. It stores nothing.
func (p *pages) preview(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if err := p.Modules.Pastes.CreateOwn.Allow(r.Viewer); err != nil {
		return err
	}
	page := previewPage{Layout: r.Layout("Preview", "")}
	if code := fields.Get("code"); len(code) <= maxRenderedBytes {
		leave, err := p.Large.Enter(r.Context())
		if err != nil {
			return err
		}
		defer leave()
		scope := "preview/" + rand.Text() // shared with nobody
		page.Rendered = p.markdown(code, markdown.IDPrefix, newColouring(r.Context()).scope(p.colours, scope))
	}
	return site.Show(w, r, p.previewView(page), nil)
}
