package pastes

import (
	"crypto/rand"
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/markdown"
	"github.com/gluepot/gluepot/adapters/pages/site"
)

// pathPreview takes Markdown that is being written, and answers with the page on which it is rendered.
const pathPreview = "/preview"

// preview renders Markdown as the page of a paste does, for those who may create one. Nothing is stored.
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
		scope := "preview/" + rand.Text() // nobody else's
		page.Rendered = p.markdown(code, markdown.IDPrefix, newTinting(r.Context()).within(p.colours, scope))
	}
	return site.Show(w, r, p.previewView(page), nil)
}
