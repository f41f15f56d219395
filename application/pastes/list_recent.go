package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
)

// ListRecent lists the newest public pastes.
type ListRecent struct{ pastes paste.RecentLister }

// Do returns the first of the public pastes that stand after a place, at most PublicPage, and whether there are others after them. It
// fails with fault.Unavailable when the store does not answer.
func (l *ListRecent) Do(ctx context.Context, after paste.Place) (page []paste.Listed, more bool, err error) {
	return pageOf(PublicPage, func(limit int) ([]paste.Listed, error) { return l.pastes.Recent(ctx, after, limit) })
}
