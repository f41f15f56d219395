package imports

import (
	"context"
	"fmt"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// What one user may have. No account comes near; a broken export could otherwise take any amount of memory.
const (
	MaxStars    = 100_000
	MaxServices = 100
)

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

// Do stores the users of the source, their stars and services included. A user whose id is known is
// brought into line with the source. A record that breaks a rule is rejected and never stops the rest.
// Of a user with more than MaxStars or MaxServices the source need not give more than one beyond that.
//
// An error of the source, of the store or of reject ends the import: the batches before it are stored and
// counted. When ctx ends, so does the import, with its cause or with what the store made of it.
func (u *Users) Do(ctx context.Context, source Source[User], reject Reject) (_ Summary, err error) {
	ctx, end := trace.Start(ctx, "imports.Users")
	defer func() { end(err) }()
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
