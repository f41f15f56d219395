package moderation

import (
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// Account is a user, and how much the user has stored.
type Account struct {
	user.User
	Usage
}

// Order is the order of a list of accounts.
type Order uint8

// The orders. Accounts that are equal in one follow each other by name.
const (
	ByName    Order = iota // whatever its case
	ByLastUse              // the latest first
	ByPastes               // most first
	ByBytes                // likewise
)

// AccountFilter says which accounts match. Zero fields match all.
type AccountFilter struct {
	Name      string // a part of the name, whatever its case, or the whole id
	Admins    bool
	Suspended bool
}

// AccountPlace is a place in a list of accounts. The zero value is before all of them.
type AccountPlace struct {
	Value int64  // of what the list is ordered by: pastes, bytes, or microseconds since 1970
	Name  string // in lower case
}

// PlaceIn returns where the account stands in a list.
func (a Account) PlaceIn(order Order) AccountPlace {
	place := AccountPlace{Name: a.Name.Folded()}
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

// LastUse returns the time of a place in a list by last use.
func (p AccountPlace) LastUse() time.Time { return time.UnixMicro(p.Value).UTC() }
