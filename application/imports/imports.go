// Package imports has the use cases that bring another installation's data in. They can be run again at
// any time, also after being killed: records are stored by their ids, in transactions of a batch each.
package imports

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// What one user may have. No account comes near; a broken export could otherwise take any amount of memory.
const (
	MaxStars    = 100_000
	MaxServices = 100
)

// Record is one record of a source, or the reason why it could not be read.
type Record[T any] struct {
	Value T
	Err   error  // a *fault.Error: the record is broken
	Line  int    // where it begins in the source, counted from 1
	Raw   []byte // its text, unchanged; only valid until the next record is asked for
}

// Records are the records of a source in their order. An error ends them.
type Records[T any] = iter.Seq2[Record[T], error]

// Source returns the records of another installation. They must end soon after ctx has.
type Source[T any] func(ctx context.Context) Records[T]

// Summary counts what became of the records. Read counts those of which that is known: it is the sum of the others.
type Summary struct {
	Read, New, Updated, Unchanged, Rejected int64
}

// Reject takes note of a record that was not accepted; raw is only valid during the call. An error ends the import.
type Reject func(line int, raw []byte, reason error) error

// User is a user as the source has it.
type User struct {
	ID, Name, AvatarURL, DefaultLanguage string
	PublicProfile, Contributor           bool
	SupporterMonths                      int64
	Stars                                []string
	Services                             map[string]string
}

// Users brings users in.
type Users struct {
	users user.Importer
	now   func() time.Time
}

// NewUsers returns the use case.
func NewUsers(users user.Importer, now func() time.Time) *Users {
	return &Users{users: users, now: now}
}

// Do stores the users of the source, their stars and services included. A user whose id is known is
// brought into line with the source. A record that breaks a rule is rejected and never stops the rest.
// Of a user with more than MaxStars or MaxServices the source need not give more than one beyond that.
//
// An error of the source, of the store or of reject ends the import: the batches before it are stored and
// counted. When ctx ends, so does the import, with its cause or with what the store made of it.
func (u *Users) Do(ctx context.Context, source Source[User], reject Reject) (Summary, error) {
	return run(ctx, source, reject, u.account, u.users.Import)
}

func (u *Users) account(r User) (user.Account, int, error) {
	account, err := u.newAccount(r)
	return account, 1 + len(account.Stars) + len(account.Services), err
}

func (u *Users) newAccount(r User) (user.Account, error) {
	name, err := user.ParseName(r.Name)
	switch {
	case err != nil:
		return user.Account{}, err
	case len(r.Stars) > MaxStars:
		return user.Account{}, fault.New(fault.Invalid, fmt.Sprintf("The user has more than %d stars.", MaxStars))
	case len(r.Services) > MaxServices:
		return user.Account{}, fault.New(fault.Invalid, fmt.Sprintf("The user has more than %d services.", MaxServices))
	}
	if r.SupporterMonths < 0 || r.SupporterMonths > 1<<31-1 {
		return user.Account{}, fault.New(fault.Invalid, "The supporter length is negative or too large.")
	}
	account := user.Account{
		User: user.User{
			ID: user.ID(r.ID), Name: name, AvatarURL: r.AvatarURL, DefaultLanguage: r.DefaultLanguage,
			PublicProfile: r.PublicProfile, Contributor: r.Contributor, SupporterMonths: int32(r.SupporterMonths), CreatedAt: u.now(),
		},
		Services: r.Services,
	}
	if account.DefaultLanguage == "" {
		account.DefaultLanguage = user.DefaultLanguage
	}
	seen := make(map[string]bool, len(r.Stars))
	for _, star := range r.Stars {
		if !ident.Valid(star) {
			return user.Account{}, fault.New(fault.Invalid, "A star is not the id of a paste.")
		}
		if !seen[star] {
			seen[star] = true
			account.Stars = append(account.Stars, star)
		}
	}
	if err := user.ValidateServices(account.Services); err != nil {
		return user.Account{}, err
	}
	return account, account.Validate()
}

// Key is a PasteMyst API key as the source has it.
type Key struct{ Owner, Text string }

// Keys brings API keys in. A user has one; it becomes a token that never expires.
type Keys struct {
	tokens token.Importer
	now    func() time.Time
}

// NewKeys returns the use case.
func NewKeys(tokens token.Importer, now func() time.Time) *Keys {
	return &Keys{tokens: tokens, now: now}
}

// keyLength is that of a v2 API key: 32 random bytes in base 64.
const keyLength = 44

// Do stores the keys of the source, hashed. A user's key that differs from the one stored before
// replaces it. The rest is as for Users.
func (k *Keys) Do(ctx context.Context, source Source[Key], reject Reject) (Summary, error) {
	return run(ctx, source, reject, oneRow(k.token), k.tokens.Import)
}

func (k *Keys) token(r Key) (token.Token, error) {
	if !ident.Valid(r.Owner) {
		return token.Token{}, fault.New(fault.Invalid, "The key has no valid user id.")
	}
	if _, err := base64.StdEncoding.DecodeString(r.Text); err != nil || len(r.Text) != keyLength {
		return token.Token{}, fault.New(fault.Invalid, "The key is not 44 characters of base 64.")
	}
	secret, err := token.ParseSecret(r.Text)
	if err != nil {
		return token.Token{}, err
	}
	// The id says whose key it is, so that a newer export finds the token it replaces.
	return token.Token{
		ID: token.ID("v2-" + r.Owner), Owner: user.ID(r.Owner), Hash: secret.Hash(), Name: "PasteMyst API key", CreatedAt: k.now(),
	}, nil
}

// Paste is a paste as the source has it. Times are Unix seconds.
type Paste struct {
	ID, Owner            string // no owner: anonymous
	CreatedAt, DeletesAt int64  // DeletesAt 0: never
}

// Pastes brings pastes in.
type Pastes struct{ pastes paste.Importer }

// NewPastes returns the use case.
func NewPastes(pastes paste.Importer) *Pastes { return &Pastes{pastes: pastes} }

// maxSeconds is the end of the year 9999.
const maxSeconds = 253402300799

// Do stores the pastes of the source. The rest is as for Users.
func (p *Pastes) Do(ctx context.Context, source Source[Paste], reject Reject) (Summary, error) {
	return run(ctx, source, reject, oneRow(newPaste), p.pastes.Import)
}

func newPaste(r Paste) (paste.Paste, error) {
	if r.CreatedAt < 0 || r.DeletesAt < 0 || r.CreatedAt > maxSeconds || r.DeletesAt > maxSeconds {
		return paste.Paste{}, fault.New(fault.Invalid, "A time is negative or beyond the year 9999.")
	}
	made := paste.Paste{ID: paste.ID(r.ID), Owner: user.ID(r.Owner), CreatedAt: time.Unix(r.CreatedAt, 0).UTC()}
	if r.DeletesAt != 0 {
		made.ExpiresAt = time.Unix(r.DeletesAt, 0).UTC()
	}
	return made, made.Validate()
}
