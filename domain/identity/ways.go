package identity

import (
	"context"
	"maps"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Ways are the ways in of one user. Access tokens are none.
type Ways struct {
	Password PasswordHash
	Accounts map[string]string // key of a provider -> the account's id there (user.Account.Services)
}

// Clone returns a copy that shares nothing.
func (w Ways) Clone() Ways {
	w.Accounts = maps.Clone(w.Accounts)
	if w.Accounts == nil {
		w.Accounts = make(map[string]string)
	}
	return w
}

// WayKeeper keeps ways in.
type WayKeeper interface {
	// WaysOf returns the ways in of a user. It fails with fault.NotFound when there is no such user.
	WaysOf(ctx context.Context, owner user.ID) (Ways, error)
	// ByPassword returns the user of that name and the hash of the user's password, or "". It fails as user.Store.ByName
	// does.
	ByPassword(ctx context.Context, name user.Name) (user.User, PasswordHash, error)
	// ChangeWays locks the user, calls change with the user and its ways in, and stores what change made of the ways, in
	// one transaction. When the password has changed, the user's sessions end, except the one with the id but.
	//
	// An error of change is returned, and nothing is stored. change must not call the store, and may be called again. It
	// fails with fault.NotFound when there is no such user, with user.ErrServiceTaken, and with moderation.ErrBlocked when
	// the address from is in a blocked network. The zero Addr never is.
	ChangeWays(
		ctx context.Context, from netip.Addr, owner user.ID, but token.ID, change func(u user.User, ways *Ways) error,
	) error
	// Rehash replaces the hash of a user's password by another one of the same password. It does nothing when the password
	// has changed meanwhile.
	Rehash(ctx context.Context, owner user.ID, from, to PasswordHash) error
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

// LinkKeeper keeps one-time links.
type LinkKeeper interface {
	// Offer stores a link and the entry, and removes links that have expired. It fails with ErrAdministered when the link is for the
	// first administrator and there is one, and with fault.NotFound when its owner is gone.
	Offer(ctx context.Context, entry auditlog.Entry, link OneTimeLink) error
	// LinkByHash returns a link. It fails with fault.NotFound when there is none or it has expired.
	LinkByHash(ctx context.Context, hash Hash) (OneTimeLink, error)
	// UseLink is WayKeeper.ChangeWays for the owner of the link with that hash, and stores the entry. All sessions and links
	// of the owner end. It returns the owner, and fails with fault.NotFound also when there is no such link, or it has
	// expired. Only one of several callers uses a link.
	UseLink(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, hash Hash, change func(u user.User, ways *Ways) error,
	) (user.User, error)
}

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
	// moderation.ErrBlocked as WayKeeper.ChangeWays does. All links for the first administrator end when the user is one.
	Enroll(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, created user.User, ways Ways, why Admission,
	) error
}
