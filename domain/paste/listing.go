package paste

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// Listed is a paste as lists show it.
type Listed struct {
	Paste
	Title      string // its first MaxTitle characters at least
	PastyTitle string // the first title of a pasty, if it has none itself
	FirstLine  string // the beginning of its first pasty's code, without any title
	Visibility Visibility
	Encrypted  bool      // and without any of these titles
	EditedAt   time.Time // when it was last edited, or created; only from Selector
	Tags       []string  // only from Selector
	OwnerName  string    // from Selector only that of a public profile
	TitleKey   string    // the key of lists by title; only from Selector

	Stars   int64         // how many users star it; this and the next are from Selector and search.Finder
	Bytes   int64         // of titles and code: Content.ContentBytes
	Pasties []ListedPasty // all of them, in order
	Cut     bool          // without Pasties: those of the pastes before it are many. It is never the first of a list
}

// Label returns what lists show for the paste: its title, or the best substitute.
func (l *Listed) Label() string {
	if l.Encrypted {
		return Encrypted
	}
	for _, label := range [...]string{l.Title, l.PastyTitle, l.FirstLine} {
		if strings.TrimSpace(label) != "" {
			return label
		}
	}
	return Untitled
}

// Untitled is the label of a paste without title and code.
const Untitled = "Untitled"

// Encrypted is the label of an encrypted paste that is not opened.
const Encrypted = "Encrypted paste"

// Place is the position of a paste in its owner's list: newest first, ties by descending id. The zero Place is before all.
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
	return cmp.Or(p.CreatedAt.Compare(q.CreatedAt), cmp.Compare(p.ID, q.ID)) > 0
}

// Order is how a list is sorted.
type Order uint8

// The orders. Ties are by descending id, and in the order of titles by ascending id.
const (
	ByCreation Order = iota // newest first
	ByEdit                  // last edited first; a paste that was never edited counts by its creation
	ByTitle                 // by Listed.TitleKey in byte order
)

// Selection says which pastes of an owner are listed, in which order, and after which place.
type Selection struct {
	Public     bool   // only public pastes
	Tag        string // only pastes with this tag; empty: all
	Title      string // only pastes whose title, or else that of the first pasty, has this part, in any ASCII case
	Order      Order
	After      Place  // in this order: CreatedAt holds EditedAt for ByEdit, and the zero time for ByTitle
	AfterTitle string // the TitleKey, for ByTitle
}

// Next returns the selection of what follows a paste of this one.
func (s Selection) Next(last *Listed) Selection {
	s.After, s.AfterTitle = last.Place(), ""
	switch s.Order {
	case ByEdit:
		s.After.CreatedAt = last.EditedAt
	case ByTitle:
		s.After.CreatedAt, s.AfterTitle = time.Time{}, last.TitleKey
	}
	return s
}

// Selector lists pastes, at most limit active ones. A list is empty when there are none, or no such user.
type Selector interface {
	// Select returns those of an owner that a selection names, without pastes that PasteMyst encrypted. Public ones are never
	// encrypted.
	Select(ctx context.Context, owner user.ID, selection Selection, limit int) ([]Listed, error)
	// Profile returns the user with that name and what Select returns of the user's public pastes, both as they were at one
	// instant. It fails with fault.NotFound when there is no such user, and reads no pastes if allow fails for the user.
	Profile(
		ctx context.Context, name user.Name, allow func(user.User) error, selection Selection, limit int,
	) (user.User, []Listed, error)
	// StarredBy returns those of any owner that a user has starred and may read (Document.SeenBy), newest first.
	StarredBy(ctx context.Context, reader user.ID, after Place, limit int) ([]Listed, error)
	// Recent returns the public ones of all users with a public profile, newest first.
	Recent(ctx context.Context, after Place, limit int) ([]Listed, error)
}

// ActiveLister lists and counts active pastes without reading them.
type ActiveLister interface {
	// ActiveIDs returns the ids of at most limit active pastes of owner, in order, beginning after a place, and the place of the
	// last of them. When there are fewer than limit, no more follow.
	ActiveIDs(ctx context.Context, owner user.ID, after Place, limit int) (ids []ID, last Place, err error)
	// ActiveCount returns how many pastes are active at the moment of reading, exactly, including every writer's.
	ActiveCount(ctx context.Context) (int64, error)
}
