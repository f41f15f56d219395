package paste

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// Listed is a paste as lists show it.
type Listed struct {
	Paste
	Title      string // its first MaxTitle characters at least
	Visibility Visibility
}

// Place is where a paste stands among those of its owner: newest first, ties by descending id. The zero Place is before all of them.
type Place struct {
	CreatedAt time.Time
	ID        ID
}

// Place returns where the paste stands.
func (p Paste) Place() Place { return Place{p.CreatedAt, p.ID} }

// Before reports whether a paste at p stands before one at q.
func (p Place) Before(q Place) bool {
	if p == (Place{}) || q == (Place{}) {
		return p != q && p == Place{}
	}
	if order := p.CreatedAt.Compare(q.CreatedAt); order != 0 {
		return order > 0
	}
	return p.ID > q.ID
}

// PublicLister lists what an owner shows to everybody.
type PublicLister interface {
	// PublicByOwner returns the first of the pastes of owner that stand after a place, at most limit of them: those
	// that are public, not encrypted, and active at the moment of reading. The list is empty when there are none, also of an
	// owner who is not there.
	PublicByOwner(ctx context.Context, owner user.ID, after Place, limit int) ([]Listed, error)
}

// TitleLister lists what an owner has.
type TitleLister interface {
	// TitlesByOwner is PublicLister.PublicByOwner for pastes of any visibility.
	TitlesByOwner(ctx context.Context, owner user.ID, after Place, limit int) ([]Listed, error)
}
