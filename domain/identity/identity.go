// Package identity is about how users sign in: with accounts of providers, passwords and passkeys. Each method of a
// port fails with fault.Unavailable when the store or the provider does not answer properly.
//
// A method that takes the client's address as from fails with moderation.ErrBlocked when a block matches it; none
// matches the zero Addr. A method that takes an entry stores it in the audit log in the same transaction, unless it is
// the zero Entry, and fails with auditlog.ErrAdministrator as auditlog.Entry says.
package identity

import (
	"context"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/user"
)

// Identity is an account at a provider. A user has at most one for each key (user.Account.Identities).
type Identity struct {
	Key     string // of the provider, see Source
	Subject string // the account's id there, which never changes
}

// Validate returns a fault.Invalid when the subject cannot be stored.
func (i Identity) Validate() error {
	if i.Subject == "" {
		return fault.New(fault.Invalid, "The provider did not say who signed in.")
	}
	return user.ValidateIdentities(map[string]string{i.Key: i.Subject})
}

// Profile is what a provider says of an account.
type Profile struct {
	Identity

	Name      string // any text
	AvatarURL string // any text
}

// Suggestion returns the profile with a valid username derived from its name, and without an avatar that a user may not
// choose. The name is empty if nothing valid is left of it.
func (p Profile) Suggestion() Profile {
	if user.CheckAvatar(p.AvatarURL) != nil {
		p.AvatarURL = ""
	}
	spelling := strings.Map(func(c rune) rune {
		if ident.Alphanumeric(c) || strings.ContainsRune("-_.", c) {
			return c
		}
		return -1
	}, strings.ReplaceAll(p.Name[:min(len(p.Name), 4*user.MaxNameLength)], " ", "-"))
	name, _ := user.ParseName(strings.Trim(spelling[:min(len(spelling), user.MaxNameLength)], "-_."))
	p.Name = name.String()
	return p
}

// ProviderClient verifies identities. Each call may talk to the provider.
type ProviderClient interface {
	// Begin returns the address at the provider to send the browser to.
	Begin(ctx context.Context, proof Proof) (address string, err error)
	// Finish returns the account that the callback proves. It fails with fault.Invalid when it proves none, and with
	// fault.Forbidden when the account may not sign in here.
	Finish(ctx context.Context, proof Proof, callback Callback) (Profile, error)
}

// Provider is a provider as it is configured.
type Provider struct {
	ProviderClient

	Name  string // in paths and commands: github, gitlab or oidc
	Label string // for people
	Key   string // distinguishes its accounts from those of another installation or issuer
}

// Callback is what a browser brings from a provider (RFC 6749, 4.1.2; RFC 9207).
type Callback struct{ State, Code, Error, Issuer string }
