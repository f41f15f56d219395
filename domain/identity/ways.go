package identity

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Ways are the ways in of one user. Access tokens are none.
type Ways struct {
	Password PasswordHash
	Accounts map[string]string // key of a provider -> the account's id there (user.Account.Services)
	Passkeys []Passkey         // in the order in which they were made
}

// Clone returns a copy that shares nothing.
func (w Ways) Clone() Ways {
	w.Accounts = maps.Clone(w.Accounts)
	if w.Accounts == nil {
		w.Accounts = make(map[string]string)
	}
	w.Passkeys = slices.Clone(w.Passkeys)
	return w
}

// How long the one-time links of an operator last.
const (
	SetupAge = 24 * time.Hour
	ResetAge = time.Hour
)

// OneTimeLink lets its holder choose a way in, once. Only the hash of its code is stored.
type OneTimeLink struct {
	Hash      Hash
	Owner     user.ID // who gets the way in; "": the holder becomes the first administrator
	ExpiresAt time.Time
}

// ErrAdministered is the fault.Conflict for a link for the first administrator when there is an administrator.
var ErrAdministered = fault.New(fault.Conflict, "This server has an administrator already.")

// Admission is why there may be a new user. The zero Admission is that of operators.
type Admission struct {
	Setup      Hash         // of the link for the first administrator
	Invitation InvitationID // whose use is taken
	Chosen     bool         // the user has chosen the name: those that others gave up are reserved
}

// Enroller stores new users with their ways in.
type Enroller interface {
	// Enroll stores a user with ways in and the entry, in one transaction with what admits it. It fails as
	// user.Store.Create does, with ErrUsedUp when the invitation is not valid, with fault.NotFound when there is no such
	// setup link or it has expired, with ErrAdministered when there is an administrator already, and with
	// moderation.ErrBlocked as Store.ChangeWays does. All links for the first administrator end when the user is one.
	Enroll(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, created user.User, ways Ways, why Admission,
	) error
}
