package imports

import (
	"context"
	"fmt"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/user"
)

// Limits of one user, far above real accounts. A broken export could otherwise take any amount of memory.
const (
	MaxStars      = 100_000
	MaxIdentities = 100
)

// User is a user as the source has it. Nil fields are absent there, and keep what is stored.
type User struct {
	ID, Name                   string
	AvatarURL, DefaultLanguage *string
	PublicProfile, Contributor *bool
	SupporterMonths            *int64
	Stars                      []string
	Identities                 map[string]string
}

// Users imports users.
type Users struct {
	users user.Store
	now   func() time.Time
}

// Do stores the users of the source, with their stars and identities. A user whose id is known is updated with what
// the record says. A record that breaks a rule is rejected and never stops the rest. The source may stop reading a
// user's lists one entry beyond MaxStars or MaxIdentities.
//
// Do fails with fault.Forbidden unless the actor is the operator. An error of the source, of the store
// or of reject ends the import: the batches before it are stored and counted. When ctx ends, the import ends
// with the cause of ctx, or with the store's error for it.
func (u *Users) Do(ctx context.Context, actor audit.Actor, source Source[User], reject Reject) (Summary, error) {
	return run(ctx, actor, source, reject, u.account, u.users.Import)
}

func (u *Users) account(r User) (user.Import, error) {
	name, err := user.ParseName(r.Name)
	switch {
	case err != nil:
		return user.Import{}, err
	case len(r.Stars) > MaxStars:
		return user.Import{}, fault.New(fault.Invalid, fmt.Sprintf("The user has more than %d stars.", MaxStars))
	case len(r.Identities) > MaxIdentities:
		return user.Import{}, fault.New(fault.Invalid, fmt.Sprintf("The user has more than %d accounts at providers.",
			MaxIdentities))
	}
	account := user.Import{
		ID: user.ID(r.ID), Name: name, AvatarURL: r.AvatarURL, DefaultLanguage: r.DefaultLanguage,
		PublicProfile: r.PublicProfile,
		Contributor:   r.Contributor, Identities: r.Identities, CreatedAt: u.now(),
	}
	if r.DefaultLanguage != nil && *r.DefaultLanguage == "" {
		account.DefaultLanguage = new(user.DefaultLanguage)
	}
	if r.SupporterMonths != nil {
		if *r.SupporterMonths < 0 || *r.SupporterMonths > 1<<31-1 {
			return user.Import{}, fault.New(fault.Invalid, "The supporter length is negative or too large.")
		}
		account.SupporterMonths = new(int32(*r.SupporterMonths))
	}
	if r.Stars != nil {
		account.Stars = make([]string, 0, len(r.Stars))
	}
	seen := make(map[string]bool, len(r.Stars))
	for _, star := range r.Stars {
		if !ident.Valid(star) {
			return user.Import{}, fault.New(fault.Invalid, "A star is not the id of a paste.")
		}
		if !seen[star] {
			seen[star] = true
			account.Stars = append(account.Stars, star)
		}
	}
	if err := user.ValidateIdentities(account.Identities); err != nil {
		return user.Import{}, err
	}
	return account, account.Over(user.Account{}, user.LocalChanges{}).Validate()
}
