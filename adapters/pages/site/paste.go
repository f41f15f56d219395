package site

import (
	"archive/zip"
	"io"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/domain/paste"
)

// MaxShownBytes bounds the titles and code on one page. A pasty is shown completely or not at all. Larger ones can be
// read raw.
const MaxShownBytes = 2 << 20

// Read returns the paste in the path.
func (s *Site) Read(r *Request) (paste.Document, error) {
	document, err := s.Modules.Pastes.Read.Do(r.Context(), r.Viewer, r.PathValue("id"))
	return document, s.Explained(r, err)
}

// Explained returns err, or a better error if operators have removed the paste in the path.
func (s *Site) Explained(r *Request, err error) error {
	return s.Modules.Pastes.Read.Explain(r.Context(), r.PathValue("id"), err)
}

// TitleOf returns the title of a paste, or a substitute.
func TitleOf(document *paste.Document) string {
	listed := paste.Summary{Title: document.Title, Encrypted: document.Encrypted()}
	for _, pasty := range slices.Backward(document.Pasties) {
		if strings.TrimSpace(pasty.Title) != "" {
			listed.PastyTitle = pasty.Title
		}
	}
	return listed.Label()
}

// Pack writes the code of all pasties as files into a folder of a ZIP file.
func (s *Site) Pack(files *zip.Writer, folder string, document *paste.Document) error {
	modified := document.CreatedAt
	if n := len(document.Edits); n > 0 {
		modified = document.Edits[n-1].At
	}
	names := make(filename.Set)
	for i := range document.Pasties {
		pasty := &document.Pasties[i]
		file, err := files.CreateHeader(&zip.FileHeader{
			Name: folder + names.Unique(s.FileName(pasty)), Method: zip.Deflate, Modified: modified.UTC(),
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
	var extensions []string
	if language, err := s.Modules.Languages.FindByName.Do(pasty.Language); err == nil {
		extensions = language.Extensions
	}
	return filename.Of(pasty.Title, pasty.ID, extensions)
}
