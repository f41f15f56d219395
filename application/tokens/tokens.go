// Package tokens has the use cases about access tokens and sessions. Each fails with fault.Unavailable when the store
// does not answer, and one that needs a user as its viewer with token.ErrRejected when the viewer has not signed in.
package tokens

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about access tokens.
type UseCases struct {
	SignIn *SignIn
	Issue  *Issue
	List   *List
	Revoke *Revoke
	Uses   *UseLog
	Export *Export

	Sessions *Sessions
}

// module is what the use cases share.
type module struct {
	store token.Store
	users user.Store
	now   func() time.Time
}

// New returns the use cases over their ports.
func New(store token.Store, users user.Store, now func() time.Time) *UseCases {
	m := &module{store: store, users: users, now: now}
	uses := newUseLog(store)
	return &UseCases{
		SignIn: &SignIn{module: m, uses: uses},
		Issue:  &Issue{m},
		List:   &List{m},
		Revoke: &Revoke{m},
		Uses:   uses,
		Export: &Export{m},

		Sessions: &Sessions{m},
	}
}

// Issue gives a user a new access token.
type Issue struct{ *module }

// IssueInput describes a new token.
type IssueInput struct {
	Name      string
	Scope     token.Scope
	ExpiresIn time.Duration // 0: it never expires
}

// Do returns a new token of the user of that name or id, and its secret, which is not kept: no command can show it
// again. It fails with fault.Forbidden unless the actor is the operator, as user.Find does, and with fault.Invalid when
// the token's name is longer than 64 bytes or not printable or the time is negative.
func (i *Issue) Do(
	ctx context.Context, actor audit.Actor, reference string, input IssueInput,
) (token.Token, token.Secret, error) {
	if err := actor.CheckOperator(); err != nil {
		return token.Token{}, token.Secret{}, err
	}
	return i.issue(ctx, actor, reference, input)
}

func (i *Issue) issue(
	ctx context.Context, actor audit.Actor, reference string, input IssueInput,
) (token.Token, token.Secret, error) {
	if !ident.Printable(input.Name, 64) {
		return token.Token{}, token.Secret{}, fault.New(fault.Invalid,
			"The token's name must be printable text of at most 64 bytes.")
	}
	if input.ExpiresIn < 0 {
		return token.Token{}, token.Secret{}, fault.New(fault.Invalid,
			"The token would already have expired. Choose a positive time.")
	}
	owner, err := user.Find(ctx, i.users, reference)
	if err != nil {
		return token.Token{}, token.Secret{}, err
	}
	secret, now := token.Generate(), i.now()
	t := token.Token{Owner: owner.ID, Scope: input.Scope, Hash: secret.Hash(), Name: input.Name, CreatedAt: now}
	if input.ExpiresIn > 0 {
		t.ExpiresAt = now.Add(input.ExpiresIn)
	}
	err = ident.Draw(func(id token.ID) error {
		t.ID = id
		entry := actor.OwnEntry("token.issue", string(id)+" of "+owner.NameAndID(), "")
		return i.store.Create(ctx, actor.Address(), entry, t)
	})
	if err != nil {
		return token.Token{}, token.Secret{}, user.ReplaceNotFound(err) // no secret that opens nothing
	}
	return t, secret, nil
}

// maxOwn is how many access tokens users may make themselves, revoked and expired ones included: a list of them is read
// as a whole.
const maxOwn = 1000

var errTooMany = fault.New(fault.Forbidden,
	fmt.Sprintf("You have reached the limit of %d access tokens. Ask the operator for another one.",
		maxOwn))

var errWiderScope = fault.New(fault.Forbidden, "This session may only read. It can create only tokens with the "+
	"scope read.")

// Own is Do for the viewer who acts. It fails with fault.Forbidden when the scope is wider than the viewer's own, or
// the viewer has too many tokens.
func (i *Issue) Own(ctx context.Context, actor audit.Actor, input IssueInput) (token.Token, token.Secret, error) {
	viewer, err := actor.Viewer()
	switch {
	case err != nil:
		return token.Token{}, token.Secret{}, err
	case !viewer.SignedIn():
		return token.Token{}, token.Secret{}, token.ErrRejected
	case viewer.MayWrite() != nil && input.Scope == token.Write:
		return token.Token{}, token.Secret{}, errWiderScope
	}
	own, err := i.store.ByOwner(ctx, viewer.User.ID)
	if err != nil {
		return token.Token{}, token.Secret{}, err
	}
	if len(own) >= maxOwn {
		return token.Token{}, token.Secret{}, errTooMany
	}
	return i.issue(ctx, actor, "id:"+string(viewer.User.ID), input)
}

// List lists access tokens.
type List struct{ *module }

// Own returns the viewer's tokens, oldest first, including revoked and expired ones.
func (l *List) Own(ctx context.Context, viewer token.Viewer) ([]token.Token, error) {
	if !viewer.SignedIn() {
		return nil, token.ErrRejected
	}
	return l.store.ByOwner(ctx, viewer.User.ID)
}

// Do is Own for the user with that name or id. It fails as audit.Actor.CheckAdministrator and user.Find do.
func (l *List) Do(ctx context.Context, actor audit.Actor, reference string) ([]token.Token, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return nil, err
	}
	owner, err := user.Find(ctx, l.users, reference)
	if err != nil {
		return nil, err
	}
	return l.store.ByOwner(ctx, owner.ID)
}

var errNoToken = fault.New(fault.NotFound, "There is no token with that id.")

// Revoke makes a token invalid.
type Revoke struct{ *module }

// Do makes the token with that id invalid from now on. It fails with fault.Forbidden unless the actor is the operator,
// and with fault.NotFound when there is none.
func (r *Revoke) Do(ctx context.Context, actor audit.Actor, id string) error {
	if err := actor.CheckOperator(); err != nil {
		return err
	}
	return r.revoke(ctx, actor, id)
}

func (r *Revoke) revoke(ctx context.Context, actor audit.Actor, id string) error {
	err := r.store.Revoke(ctx, actor.Address(), actor.OwnEntry("token.revoke", id, ""), token.ID(id), r.now())
	return fault.Replace(err, fault.NotFound, errNoToken)
}

// Own is Do for a token of the viewer who acts.
func (r *Revoke) Own(ctx context.Context, actor audit.Actor, id string) error {
	viewer, err := actor.User()
	if err != nil {
		return err
	}
	own, err := r.store.ByOwner(ctx, viewer.User.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(own, func(t token.Token) bool { return string(t.ID) == id }) {
		return errNoToken
	}
	return r.revoke(ctx, actor, id)
}
