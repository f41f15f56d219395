package paste

import (
	"cmp"
	"strings"
	"time"
)

// Summary is a paste as lists show it.
type Summary struct {
	Paste
	Title      string // at least its first MaxTitle characters
	PastyTitle string // the first title of a pasty, if Title is empty
	FirstLine  string // the beginning of the first pasty's code, if both titles are empty
	Visibility Visibility
	Encrypted  bool      // if so, all three are empty
	EditedAt   time.Time // of the last edit, or else CreatedAt; only in lists
	Tags       []string  // only in lists
	OwnerName  string    // in lists, only if the profile is public
	TitleKey   string    // sorts lists by title; only in lists

	Stars      int64          // number of users who star it; this and the next fields are set in lists and searches
	Bytes      int64          // Content.ContentBytes
	PastyCount int            // number of pasties
	Pasties    []PastySummary // all of them, in order
	Cut        bool           // Pasties were left out: see CutPasties; never set on the first
}

// Label returns how lists name the paste: its title, or the best substitute.
func (l *Summary) Label() string {
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

// Untitled is the label of a paste without titles and code.
const Untitled = "Untitled"

// Encrypted is the label of an encrypted paste.
const Encrypted = "Encrypted paste"

// Cursor is a cursor in a list that is sorted by creation: newest first, ties by descending id. The zero value is
// before the first paste.
type Cursor struct {
	CreatedAt time.Time
	ID        ID
}

// Cursor returns the cursor after the paste.
func (p Paste) Cursor() Cursor { return Cursor{p.CreatedAt, p.ID} }

// Before reports whether p is before q in a list.
func (p Cursor) Before(q Cursor) bool {
	if p == (Cursor{}) || q == (Cursor{}) {
		return p != q && p == Cursor{}
	}
	return cmp.Or(p.CreatedAt.Compare(q.CreatedAt), cmp.Compare(p.ID, q.ID)) > 0
}

// Order is the order of a list.
type Order uint8

// The orders. Ties are sorted by descending id, or by ascending id for ByTitle.
const (
	ByCreation Order = iota // newest first
	ByEdit                  // by Summary.EditedAt, newest first
	ByTitle                 // by Summary.TitleKey in byte order
)

// Selection says which pastes of an owner are listed, in which order, and after which cursor.
type Selection struct {
	Public     bool   // only public pastes
	Tag        string // only pastes with this tag; empty: all
	Title      string // only pastes with this part in their title, or else the first pasty's, ignoring ASCII case
	Order      Order
	After      Cursor // CreatedAt is EditedAt for ByEdit, and zero for ByTitle
	AfterTitle string // the TitleKey, for ByTitle
}

// TitleWindow is how many pastes of all users are filtered by title. It is limited because everyone may ask.
const TitleWindow = 10_000

// Next returns the selection of the pastes that follow last.
func (s Selection) Next(last *Summary) Selection {
	s.After, s.AfterTitle = last.Cursor(), ""
	switch s.Order {
	case ByEdit:
		s.After.CreatedAt = last.EditedAt
	case ByTitle:
		s.After.CreatedAt, s.AfterTitle = time.Time{}, last.TitleKey
	}
	return s
}
