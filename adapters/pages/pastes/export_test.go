package pastes

import "github.com/gluepot/gluepot/domain/paste"

// For tests in another package.
const (
	MaxRenderedBytes = maxRenderedBytes
	LargePage        = largePage
)

// HasPicture reports whether a paste has a picture.
func HasPicture(doc *paste.Document) bool {
	pasty, _ := pictured(doc)
	return pasty != nil
}
