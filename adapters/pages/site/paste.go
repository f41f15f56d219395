package site

import (
	"strings"

	"github.com/gluepot/gluepot/domain/paste"
)

// MaxShownBytes bounds the titles and code on one page. A pasty is shown completely or not at all; larger ones can be read in raw form.
const MaxShownBytes = 2 << 20

// Read returns the paste in the path.
func (s *Site) Read(r *Request) (paste.Document, error) {
	found, err := s.Modules.Pastes.Read.Do(r.Context(), r.Viewer, r.PathValue("id"))
	return found, s.Explained(r, err)
}

// Explained returns the error of a paste that cannot be read. It says if operators have removed the paste.
func (s *Site) Explained(r *Request, err error) error {
	if err == nil {
		return nil
	}
	return s.Modules.Pastes.Explain.Do(r.Context(), r.PathValue("id"), err)
}

// TitleOf returns the title of a paste, or a substitute.
func TitleOf(found *paste.Document) string {
	if found.Encrypted() {
		return paste.Encrypted
	}
	if strings.TrimSpace(found.Title) != "" {
		return found.Title
	}
	for _, pasty := range found.Pasties {
		if strings.TrimSpace(pasty.Title) != "" {
			return pasty.Title
		}
	}
	return paste.Untitled
}
