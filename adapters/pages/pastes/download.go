package pastes

import (
	"archive/zip"
	"io"
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

// code answers with the code of the pasty in the path, or of the first pasty. Browsers cannot get the code of a private
// paste from the API, because they send no token.
func (p *pages) code(download bool) site.Handler {
	return func(w http.ResponseWriter, r *site.Request) error {
		pasty, err := p.Modules.Pastes.Read.Raw(r.Context(), r.Viewer, r.PathValue("id"), r.PathValue("pasty"),
			r.PathValue("edit"))
		if err != nil {
			return p.Explained(r, err)
		}
		name := ""
		if download {
			name = p.FileName(&pasty)
		}
		site.Enclose(w, r, site.TextContentType, name)
		_, err = io.WriteString(w, pasty.Code)
		return err
	}
}

func (p *pages) archive(w http.ResponseWriter, r *site.Request) error {
	leave, err := p.Large.Wait(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	doc, err := p.Read(r)
	if err != nil {
		return err
	}
	site.Enclose(w, r, site.ZipContentType, string(doc.ID)+".zip")
	files := zip.NewWriter(w)
	if err := p.Pack(files, "", &doc); err != nil {
		return err
	}
	return files.Close()
}
