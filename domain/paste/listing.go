package paste

import (
	"cmp"
	"strings"
	"time"
)

// Listed is a paste as lists show it.
type Listed struct {
	Paste
	Title      string // its first MaxTitle characters at least
	PastyTitle string // the first title of a pasty, if it has none itself
	FirstLine  string // the beginning of its first pasty's code, without any title
	Visibility Visibility
	Encrypted  bool      // and without any of these titles
	EditedAt   time.Time // when it was last edited, or created; only in lists
	Tags       []string  // only in lists
	OwnerName  string    // in lists only that of a public profile
	TitleKey   string    // the key of lists by title; only in lists

	Stars   int64         // how many users star it; this and the next are from lists and searches
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

// Place is the position of a paste in its owner's list: newest first, ties by descending id. The zero Place is before
// all.
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
