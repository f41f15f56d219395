package identity

import (
	"maps"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Credentials are the credentials of one user, without access tokens.
type Credentials struct {
	Password   PasswordHash
	Identities map[string]string // key of a provider -> the account's id there (user.Account.Identities)
	Passkeys   []Passkey         // oldest first
}

// Clone returns a copy that shares nothing.
func (w Credentials) Clone() Credentials {
	w.Identities = maps.Clone(w.Identities)
	if w.Identities == nil {
		w.Identities = make(map[string]string)
	}
	w.Passkeys = slices.Clone(w.Passkeys)
	return w
}

// Lifetimes of one-time links.
const (
	SetupAge = 24 * time.Hour
	ResetAge = time.Hour
)

// OneTimeLink lets its holder choose a password or a passkey, once. Only the hash of its code is stored.
type OneTimeLink struct {
	Hash      Hash
	Owner     user.ID // whose credential it is; "": the holder becomes the first administrator
	ExpiresAt time.Time
}

// ErrAdministratorExists is the fault.Conflict for a link for the first administrator when there is an administrator.
var ErrAdministratorExists = fault.New(fault.Conflict, "This server already has an administrator.")

// Admission is what entitles a new user to an account. The zero Admission is for users whom operators create.
type Admission struct {
	Setup      Hash         // of the link for the first administrator
	Invitation InvitationID // which loses one use
	Chosen     bool         // the user chose the name, which must not be one that another user gave up
}
