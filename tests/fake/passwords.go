package fake

import (
	"context"
	"strings"

	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// Passwords does not hash: the hash of a password is the password with a prefix, which is "old:" for an outdated hash.
// Passwords that begin with "weak" have the score 2.
type Passwords struct{}

const fakeHash, outdatedHash = "fake:", "old:"

// Enter implements identity.Passwords.
func (Passwords) Enter() (leave func(), err error) { return func() {}, nil }

// Normal implements identity.Passwords.
func (Passwords) Normal(password string) string { return strings.ReplaceAll(password, "\uff45", "e") }

// Score implements identity.Passwords.
func (Passwords) Score(_ context.Context, password string, _ user.Name) (int, error) {
	if strings.HasPrefix(password, "weak") {
		return identity.MinScore - 1, nil
	}
	return identity.MinScore, nil
}

// Hash implements identity.Passwords.
func (Passwords) Hash(_ context.Context, password string) (identity.PasswordHash, error) {
	return identity.PasswordHash(fakeHash + password), nil
}

// Matches implements identity.Passwords.
func (Passwords) Matches(_ context.Context, password string,
	hash identity.PasswordHash) (matches, outdated bool, err error) {
	outdated = strings.HasPrefix(string(hash), outdatedHash)
	return string(hash) == fakeHash+password || string(hash) == outdatedHash+password, outdated, nil
}
