package users

import (
	"context"
	"net/netip"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Update changes a user.
type Update struct{ *module }

// UpdateInput is what to change of a user; nil leaves a field alone.
type UpdateInput struct {
	AvatarURL       *string
	DefaultLanguage *string
	PublicProfile   *bool
	ShowTags        *bool
	SupporterMonths *int32
	Contributor     *bool
	Admin           *bool
	Identities      map[string]string // key of a provider -> the user's id there, or "" to remove it; others stay
}

var errOwnRights = fault.New(fault.Invalid, "This is your own account. Only another administrator can remove its "+
	"rights.")

// Do changes the user of that name or id, and returns the account without its stars. It does not overwrite concurrent
// changes of other fields. It fails with fault.Forbidden unless the actor is the operator or an administrator, as
// user.Find does, and with fault.Invalid when a value breaks a rule, or when administrators would take their own
// rights; then nothing was changed.
func (u *Update) Do(
	ctx context.Context, actor audit.Actor, reference string, change UpdateInput,
) (user.Account, error) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return user.Account{}, err
	}
	target, err := user.Find(ctx, u.store, reference)
	if err != nil {
		return user.Account{}, err
	}
	if change.Admin != nil && !*change.Admin && actor.Is(target.ID) {
		return user.Account{}, errOwnRights
	}
	act := "user.update"
	if change.Admin != nil { // even if other fields change, too: the log names what gives a user power
		act = "user.unmake-admin"
		if *change.Admin {
			act = "user.make-admin"
		}
	}
	var was bool // an administrator
	apply := func(stored *user.User, identities map[string]string) error {
		was = stored.Admin
		return change.apply(stored, identities)
	}
	entry := actor.Entry(act, target.NameAndID(), "")
	updated, identities, err := u.store.Update(ctx, netip.Addr{}, entry, target.ID, apply)
	if err == nil && updated.Admin && !was {
		u.notify.Tell(notice.Administrator(updated, u.now()))
	}
	return user.Account{User: updated, Identities: identities}, user.ReplaceNotFound(err)
}

// apply changes a user and its identities, and validates the result.
func (c UpdateInput) apply(u *user.User, identities map[string]string) error {
	if c.AvatarURL != nil {
		if err := user.CheckAvatar(*c.AvatarURL); err != nil {
			return err
		}
	}
	set(&u.AvatarURL, c.AvatarURL)
	set(&u.DefaultLanguage, c.DefaultLanguage)
	set(&u.PublicProfile, c.PublicProfile)
	set(&u.ShowTags, c.ShowTags)
	set(&u.SupporterMonths, c.SupporterMonths)
	set(&u.Contributor, c.Contributor)
	set(&u.Admin, c.Admin)
	for provider, id := range c.Identities {
		if id == "" {
			delete(identities, provider)
		} else {
			identities[provider] = id
		}
	}
	return validate(*u, identities)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

var errTaken = fault.New(fault.Conflict, "The username is taken, or another user had it recently. Choose another.")

// Profile is what users may change about themselves.
type Profile struct {
	Name            string
	AvatarURL       string // of https, or empty
	DefaultLanguage string
	PublicProfile   bool
	ShowTags        bool
}

// Own changes the viewer's profile. It fails with token.ErrRejected also when the viewer was deleted meanwhile, with
// fault.Invalid when a value breaks a rule, and with fault.Conflict when the name is taken or reserved; nothing was
// changed then.
func (u *Update) Own(ctx context.Context, actor audit.Actor, profile Profile) error {
	viewer, err := actor.User()
	if err != nil {
		return err
	}
	name, err := user.ParseName(profile.Name)
	if err != nil {
		return err
	}
	change := func(stored *user.User, _ map[string]string) error {
		if profile.AvatarURL != stored.AvatarURL {
			if err := user.CheckAvatar(profile.AvatarURL); err != nil {
				return err
			}
		}
		if name.Folded() != stored.Name.Folded() {
			if err := name.CheckChosen(); err != nil {
				return err
			}
		}
		stored.Name, stored.AvatarURL, stored.DefaultLanguage = name, profile.AvatarURL, profile.DefaultLanguage
		stored.PublicProfile, stored.ShowTags = profile.PublicProfile, profile.ShowTags
		return stored.Validate()
	}
	_, _, err = u.store.Update(ctx, actor.Address(), auditlog.Entry{}, viewer.User.ID, change)
	return fault.Replace(fault.Replace(err, fault.NotFound, token.ErrRejected), fault.Conflict, errTaken)
}
