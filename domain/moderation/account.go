package moderation

import (
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// Account is a user with the user's usage.
type Account struct {
	user.User
	Usage
}

// Order is the order of a list of accounts.
type Order uint8

// The orders. Ties are sorted by name.
const (
	ByName    Order = iota // ignoring case
	ByLastUse              // latest first
	ByPastes               // most first
	ByBytes                // most first
)

// AccountFilter says which accounts match. Zero fields match all.
type AccountFilter struct {
	Name      string // a part of the name, ignoring case, or the whole id
	Admins    bool
	Suspended bool
}

// AccountCursor is a cursor in a list of accounts. The zero value is before the first one.
type AccountCursor struct {
	Value int64  // what the list is sorted by: pastes, bytes, or microseconds since 1970
	Name  string // in lower case
}

// CursorIn returns the cursor after the account in a list.
func (a Account) CursorIn(order Order) AccountCursor {
	place := AccountCursor{Name: a.Name.Folded()}
	switch {
	case order == ByPastes:
		place.Value = a.Pastes
	case order == ByBytes:
		place.Value = a.Bytes
	case order == ByLastUse && !a.LastUsed.IsZero():
		place.Value = a.LastUsed.UnixMicro()
	}
	return place
}

// LastUse returns the time of a cursor in a list by last use.
func (p AccountCursor) LastUse() time.Time { return time.UnixMicro(p.Value).UTC() }
