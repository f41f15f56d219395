package users

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	errTaken    = fault.New(fault.Conflict, "The username is taken, or another user had it not long ago. Choose another.")
	errMistyped = fault.New(fault.Invalid, "This is not your username. Type it to delete your account.")
)

// UpdateOwn changes the profile of a signed-in user.
type UpdateOwn struct{ users user.Updater }

// Profile is what users may change about themselves.
type Profile struct {
	Name            string
	AvatarURL       string // of https, or empty
	DefaultLanguage string
	PublicProfile   bool
	ShowTags        bool
}

// Do changes the viewer's profile. It fails with token.Rejected when the viewer has not signed in or is gone, with
// fault.Invalid when a value breaks a rule, with fault.Conflict when the name is taken or reserved, and with fault.Unavailable
// when the store does not answer; nothing was changed then.
func (u *UpdateOwn) Do(ctx context.Context, viewer token.Viewer, wanted Profile) error {
	if !viewer.SignedIn() {
		return token.Rejected()
	}
	name, err := user.ParseName(wanted.Name)
	if err != nil {
		return err
	}
	_, _, err = u.users.Update(ctx, viewer.User.ID, func(stored *user.User, _ map[string]string) error {
		if wanted.AvatarURL != stored.AvatarURL {
			if err := user.CheckAvatar(wanted.AvatarURL); err != nil {
				return err
			}
		}
		if name.Folded() != stored.Name.Folded() {
			if err := name.CheckChosen(); err != nil {
				return err
			}
		}
		stored.Name, stored.AvatarURL, stored.DefaultLanguage = name, wanted.AvatarURL, wanted.DefaultLanguage
		stored.PublicProfile, stored.ShowTags = wanted.PublicProfile, wanted.ShowTags
		return stored.Validate()
	})
	switch fault.KindOf(err) {
	case fault.NotFound:
		return token.Rejected()
	case fault.Conflict:
		return errTaken
	}
	return err
}

// DeleteOwn removes the account of a signed-in user.
type DeleteOwn struct {
	users   user.Deleter
	longest paste.Lifetime // of pastes that stay
	now     func() time.Time
}

// Do is Delete.Do for the viewer, who confirms by typing the name. Pastes that stay live no longer than anonymous pastes may.
// It fails with token.Rejected when the viewer has not signed in or is gone, with fault.Invalid when the name is another one,
// and with fault.Unavailable when the store does not answer.
func (d *DeleteOwn) Do(ctx context.Context, viewer token.Viewer, typed string, anonymize bool) error {
	if !viewer.SignedIn() {
		return token.Rejected()
	}
	if name, err := user.ParseName(typed); err != nil || name.Folded() != viewer.User.Name.Folded() {
		return errMistyped
	}
	var kept *user.Kept
	if anonymize {
		kept = &user.Kept{Until: d.longest.End(d.now()), Lifetime: string(d.longest)}
	}
	err := d.users.Delete(ctx, viewer.User.ID, viewer.User.Name, kept)
	if fault.Is(err, fault.NotFound) {
		return token.Rejected()
	}
	return err
}

// ShowFormer finds the public profile of a user by a name that the user gave up.
type ShowFormer struct{ users user.FormerFinder }

// Do is ShowProfile.Do for such a name.
func (s *ShowFormer) Do(ctx context.Context, name string) (user.User, error) {
	parsed, err := user.ParseName(name)
	if err != nil {
		return user.User{}, user.ErrNotFound
	}
	found, err := s.users.ByFormerName(ctx, parsed)
	if err == nil && !found.PublicProfile {
		err = user.ErrNotFound
	}
	if err != nil {
		return user.User{}, user.Gone(err)
	}
	return found, nil
}

// FormerNames tells the viewer which names lead to them.
type FormerNames struct{ users user.FormerFinder }

// Do returns the names, in lower case, that the viewer gave up and nobody has now, the latest first. It fails with token.Rejected when
// the viewer has not signed in, and with fault.Unavailable when the store does not answer.
func (f *FormerNames) Do(ctx context.Context, viewer token.Viewer) ([]string, error) {
	if !viewer.SignedIn() {
		return nil, token.Rejected()
	}
	return f.users.FormerNames(ctx, viewer.User.ID)
}
