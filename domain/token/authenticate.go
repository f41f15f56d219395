package token

import (
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// Authenticator signs in whoever presents the secret of a valid token.
type Authenticator struct {
	uses     UseRecorder
	now      func() time.Time
	rejected atomic.Int64
}

// NewAuthenticator returns one that judges tokens by the clock now and records their use.
func NewAuthenticator(uses UseRecorder, now func() time.Time) *Authenticator {
	return &Authenticator{uses: uses, now: now}
}

// Authenticate returns the valid token whose secret is presented, and records that it was used.
//
// find looks the token up by its hash, and may look up in the same round trip what else the caller needs; it
// fails as Finder.ByHash does. What it found counts only when Authenticate returns no error.
//
// It fails with Rejected when the secret is empty, malformed or unknown, or when its token is expired or revoked, and
// otherwise as find does.
func (a *Authenticator) Authenticate(presented string, find func(Hash) (Token, error)) (Token, error) {
	return a.authenticate(presented, find, a.now)
}

// AuthenticateAt is Authenticate for a find that writes what only the holder of a valid token may. find judges the
// token, by Token.Verify or a statement that means the same, at the instant that it is given, and so does
// AuthenticateAt: they cannot disagree. The instant is in whole microseconds, as stores keep them.
func (a *Authenticator) AuthenticateAt(presented string, find func(hash Hash, at time.Time) (Token, error)) (Token, error) {
	at := a.now().Truncate(time.Microsecond)
	return a.authenticate(presented,
		func(hash Hash) (Token, error) { return find(hash, at) },
		func() time.Time { return at })
}

// Rejections returns how often an Authenticator has rejected what was presented to it.
func (a *Authenticator) Rejections() int64 { return a.rejected.Load() }

func (a *Authenticator) authenticate(presented string, find func(Hash) (Token, error), now func() time.Time) (Token, error) {
	secret, err := ParseSecret(presented)
	if err != nil {
		return Token{}, a.reject()
	}
	hash := secret.Hash()
	found, err := find(hash)
	switch {
	case fault.Is(err, fault.NotFound):
		return Token{}, a.reject()
	case err != nil:
		return Token{}, err
	}
	at := now()
	if found.Verify(hash, at) != nil {
		return Token{}, a.reject()
	}
	a.uses.RecordUse(found.ID, at)
	return found, nil
}

func (a *Authenticator) reject() error {
	a.rejected.Add(1)
	return Rejected()
}
