package pastes

import (
	"archive/zip"
	"io"
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) readRaw(r *site.Request) (paste.Pasty, error) {
	found, err := p.Modules.Pastes.Read.Raw(r.Context(), r.Viewer, r.PathValue("id"), r.PathValue("pasty"), r.PathValue("edit"))
	return found, p.Explained(r, err)
}

// raw answers with the code of one pasty, for private pastes: browsers send no token to the interface for programs.
func (p *pages) raw(w http.ResponseWriter, r *site.Request) error {
	pasty, err := p.readRaw(r)
	if err != nil {
		return err
	}
	site.Enclose(w, r, site.TextContentType)
	_, err = io.WriteString(w, pasty.Code)
	return err
}

func (p *pages) download(w http.ResponseWriter, r *site.Request) error {
	pasty, err := p.readRaw(r)
	if err != nil {
		return err
	}
	site.Attach(w, r, site.TextContentType, p.FileName(&pasty))
	_, err = io.WriteString(w, pasty.Code)
	return err
}

func (p *pages) archive(w http.ResponseWriter, r *site.Request) error {
	leave, err := p.Large.Wait(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	found, err := p.Read(r)
	if err != nil {
		return err
	}
	site.Attach(w, r, site.ZipContentType, string(found.ID)+".zip")
	files := zip.NewWriter(w)
	if err := p.Pack(files, "", &found); err != nil {
		return err
	}
	return files.Close()
}
