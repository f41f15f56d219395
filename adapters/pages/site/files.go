package site

import (
	"archive/zip"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/domain/paste"
)

// Content types of files and archives.
const (
	TextContentType = "text/plain; charset=utf-8"
	ZipContentType  = "application/zip"
)

// Enclose sets the headers of answers other than pages: of a download with a file name, if there is one.
func Enclose(w http.ResponseWriter, r *Request, contentType, filename string) {
	r.Policy = "default-src 'none'; frame-ancestors 'none'; sandbox"
	Guard(w, r)
	w.Header().Set("Content-Type", contentType)
	if filename != "" {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": filename}))
	}
}

// Pack writes the code of all pasties as files into a folder of a ZIP file.
func (s *Site) Pack(files *zip.Writer, folder string, found *paste.Document) error {
	written := found.CreatedAt
	if n := len(found.Edits); n > 0 {
		written = found.Edits[n-1].At
	}
	names := make(filename.Set)
	for i := range found.Pasties {
		pasty := &found.Pasties[i]
		file, err := files.CreateHeader(&zip.FileHeader{
			Name: folder + names.Unique(s.FileName(pasty)), Method: zip.Deflate, Modified: written.UTC(),
		})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(file, pasty.Code); err != nil {
			return err
		}
	}
	return nil
}

// FileName returns a file name for a pasty that is valid on every system.
func (s *Site) FileName(pasty *paste.Pasty) string {
	if name := filename.Safe(pasty.Title); name != "" {
		return name
	}
	name := filename.Safe(pasty.ID)
	if name == "" {
		name = "paste"
	}
	extension := "txt"
	if found, err := s.Modules.Languages.FindByName.Do(pasty.Language); err == nil && len(found.Extensions) > 0 {
		extension = found.Extensions[0]
		if extension != strings.ToLower(extension) { // an odd one: BUILD, of Python
			extension = slices.MinFunc(found.Extensions, func(a, b string) int { return len(a) - len(b) })
		}
	}
	return name + "." + extension
}
