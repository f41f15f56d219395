package accounts

import (
	"context"
	"strings"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Find finds users by their identities, for administrators.
type Find struct{ *module }

// Do returns the user who has an identity, such as github:77. The identity begins with the name of a configured
// provider, or with the key of any provider. Do fails as audit.Actor.CheckAdministrator does, with fault.Invalid when
// the text is not an identity, and with user.ErrNotFound when no user has it.
func (f *Find) Do(ctx context.Context, actor audit.Actor, text string) (user.User, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return user.User{}, err
	}
	name, subject, ok := strings.Cut(text, ":")
	if at := strings.LastIndex(text, ":"); ok && f.sources.key(name) == name { // a key can contain a provider's URL
		name, subject = text[:at], text[at+1:]
	}
	account := identity.Identity{Key: f.sources.key(name), Subject: subject}
	if !ok || account.Validate() != nil {
		return user.User{}, errNoIdentity
	}
	owner, err := f.store.ByIdentity(ctx, account)
	return owner, user.ReplaceNotFound(err)
}

// Link gives users identities, and takes them away.
type Link struct{ *module }

var (
	errNoIdentity = fault.New(fault.Invalid, "Write the identity as PROVIDER:SUBJECT, such as github:77.")
	errNotLinked  = fault.New(fault.NotFound, "The user has no such identity.")
)

// Do links the user of that name or id with an identity, such as github:77, of a provider that is configured.
//
// It fails with fault.Forbidden unless the actor is the operator, as user.Find does, with fault.NotFound when there is
// no such provider, with fault.Invalid when the identity is none, and with fault.Conflict when another user has it or
// the user has another one of that provider.
func (l *Link) Do(ctx context.Context, actor audit.Actor, reference, text string) error {
	if err := actor.CheckOperator(); err != nil {
		return err
	}
	name, subject, ok := strings.Cut(text, ":")
	if !ok {
		return errNoIdentity
	}
	source, err := l.sources.named(name)
	if err != nil {
		return err
	}
	account := identity.Identity{Key: source.Key, Subject: subject}
	if account.Validate() != nil {
		return errNoIdentity
	}
	owner, err := user.Find(ctx, l.users, reference)
	if err != nil {
		return err
	}
	entry := actor.Entry("user.link", owner.NameAndID(), text)
	_, _, err = l.users.Update(ctx, actor.Address(), entry, owner.ID, add(account))
	return user.ReplaceNotFound(err)
}

// Undo takes the identity of a provider from the user of that name or id, even the last one. The provider is the name
// of a configured one, or the key of any. It fails with fault.Forbidden unless the actor is the operator, as user.Find
// does, and with fault.NotFound when there is no such identity.
func (l *Link) Undo(ctx context.Context, actor audit.Actor, reference, provider string) error {
	if err := actor.CheckOperator(); err != nil {
		return err
	}
	owner, err := user.Find(ctx, l.users, reference)
	if err != nil {
		return err
	}
	key := l.sources.key(provider)
	remove := func(_ *user.User, identities map[string]string) error {
		if _, ok := identities[key]; !ok {
			return errNotLinked
		}
		delete(identities, key)
		return nil
	}
	entry := actor.Entry("user.unlink", owner.NameAndID(), key)
	_, _, err = l.users.Update(ctx, actor.Address(), entry, owner.ID, remove)
	return err
}

// UndoOwn takes from the viewer the identity with that key. It fails with token.ErrRejected unless the viewer has a
// session that was begun within the last hour, and with fault.Conflict when it is the viewer's last credential.
func (l *Link) UndoOwn(ctx context.Context, actor audit.Actor, key string) error {
	viewer, err := actor.User()
	if err != nil {
		return err
	}
	if !viewer.SignedInRecently(l.now()) {
		return token.ErrRejected
	}
	return l.change(ctx, actor, viewer, func(credentials *identity.Credentials) error {
		delete(credentials.Identities, key)
		return l.checkUsable(*credentials)
	})
}
