package pages

import (
	"archive/zip"
	"context"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/domain/paste"
)

var (
	textContentType = []string{"text/plain; charset=utf-8"}
	zipContentType  = []string{"application/zip"}
	sandboxed       = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"}
)

// enclose sets the headers of what is no page.
func enclose(w http.ResponseWriter, r *request, contentType []string) {
	guard(w, r)
	header := w.Header()
	header["Content-Type"] = contentType
	header["Content-Security-Policy"] = sandboxed
}

// attach sets the headers of a file to keep.
func attach(w http.ResponseWriter, r *request, contentType []string, name string) {
	enclose(w, r, contentType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// readRaw reads the pasty that the path names, perhaps as an edit left it.
func (p *Pages) readRaw(r *request) (paste.Pasty, error) {
	found, err := p.modules.Pastes.ReadRaw.Do(r.Context(), r.viewer, r.PathValue("id"), r.PathValue("pasty"), r.PathValue("edit"))
	return found, p.explained(r, err)
}

// raw answers with the code of one pasty as the interface for programs does, to which browsers send no token.
func (p *Pages) raw(w http.ResponseWriter, r *request) error {
	pasty, err := p.readRaw(r)
	if err != nil {
		return err
	}
	enclose(w, r, textContentType)
	return writePieces(r.Context(), w, pasty.Code)
}

// download answers with the code of one pasty as a file.
func (p *Pages) download(w http.ResponseWriter, r *request) error {
	pasty, err := p.readRaw(r)
	if err != nil {
		return err
	}
	attach(w, r, textContentType, p.fileName(&pasty))
	return writePieces(r.Context(), w, pasty.Code)
}

// archive answers with the code of all pasties as a ZIP file.
func (p *Pages) archive(w http.ResponseWriter, r *request) error {
	leave, err := p.archives.enter(r.Context()) // before the paste is read: a request that waits holds no memory
	if err != nil {
		return err
	}
	defer leave()
	found, err := p.read(r)
	if err != nil {
		return err
	}
	attach(w, r, zipContentType, string(found.ID)+".zip")
	files := zip.NewWriter(w)
	if err := p.pack(r.Context(), files, "", &found); err != nil {
		return err
	}
	return files.Close()
}

// pack writes the code of all pasties as files into a folder of a ZIP file.
func (p *Pages) pack(ctx context.Context, files *zip.Writer, folder string, found *paste.Document) error {
	written := found.CreatedAt
	if n := len(found.Edits); n > 0 {
		written = found.Edits[n-1].At
	}
	names := make(filename.Set)
	for i := range found.Pasties {
		pasty := &found.Pasties[i]
		file, err := files.CreateHeader(&zip.FileHeader{
			Name: folder + names.Unique(p.fileName(pasty)), Method: zip.Deflate, Modified: written.UTC(),
		})
		if err != nil {
			return err
		}
		if err := writePieces(ctx, file, pasty.Code); err != nil {
			return err
		}
	}
	return nil
}

func writePieces(ctx context.Context, w io.Writer, text string) error {
	for piece := range pieces(text) {
		if err := writePiece(ctx, w, []byte(piece)); err != nil {
			return err
		}
	}
	return nil
}

// fileName returns the name of a file for a pasty: its title, as far as every system can have it.
func (p *Pages) fileName(pasty *paste.Pasty) string {
	if name := filename.Safe(pasty.Title); name != "" {
		return name
	}
	name := filename.Safe(pasty.ID)
	if name == "" {
		name = "paste"
	}
	extension := "txt"
	if found, err := p.modules.Languages.FindByName.Do(pasty.Language); err == nil && len(found.Extensions) > 0 {
		extension = found.Extensions[0]
		if extension != strings.ToLower(extension) { // an odd one: BUILD, of Python
			extension = slices.MinFunc(found.Extensions, func(a, b string) int { return len(a) - len(b) })
		}
	}
	return name + "." + extension
}
