package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// OwnPage is how many pastes BrowseOwn returns at once.
const OwnPage = 50

// BrowseOwn lists the pastes of a signed-in user page by page, with what tells one from another.
type BrowseOwn struct{ pastes paste.Selector }

// OwnPastes are some of a user's pastes.
type OwnPastes struct {
	Pastes []paste.Listed // at most OwnPage
	More   bool           // whether there are others after the last one
}

// Do returns the first of the viewer's active pastes that a selection names. Private ones are included, and encrypted ones are not.
// It fails with token.Rejected when the viewer has not signed in, and with fault.Unavailable when the store does not answer.
func (b *BrowseOwn) Do(ctx context.Context, viewer token.Viewer, selection paste.Selection) (OwnPastes, error) {
	if !viewer.SignedIn() {
		return OwnPastes{}, token.Rejected()
	}
	page, more, err := pageOf(OwnPage, func(limit int) ([]paste.Listed, error) {
		return b.pastes.Select(ctx, viewer.User.ID, selection, limit)
	})
	return OwnPastes{Pastes: page, More: more}, err
}
