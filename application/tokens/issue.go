package tokens

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Issue gives a user a new access token.
type Issue struct{ *module }

// IssueInput describes a new token.
type IssueInput struct {
	Name      string
	Scope     token.Scope
	ExpiresIn time.Duration // 0: it never expires
}

// Do returns a new token of the user of that name or id, and its secret, which is not kept: no command can show it again. It fails
// as user.Find does, and with fault.Invalid when the token's name is longer than 64 bytes or not printable or the time is negative.
func (i *Issue) Do(ctx context.Context, reference string, wanted IssueInput) (token.Token, token.Secret, error) {
	if !ident.Printable(wanted.Name, 64) {
		return token.Token{}, token.Secret{}, fault.New(fault.Invalid, "The token's name is not printable text of at most 64 bytes.")
	}
	if wanted.ExpiresIn < 0 {
		return token.Token{}, token.Secret{}, fault.New(fault.Invalid, "The token would have expired already: give it a positive time.")
	}
	owner, err := user.Find(ctx, i.users, reference)
	if err != nil {
		return token.Token{}, token.Secret{}, err
	}
	secret, now := token.Generate(), i.now()
	issued := token.Token{Owner: owner.ID, Scope: wanted.Scope, Hash: secret.Hash(), Name: wanted.Name, CreatedAt: now}
	if wanted.ExpiresIn > 0 {
		issued.ExpiresAt = now.Add(wanted.ExpiresIn)
	}
	err = ident.Draw(func(id token.ID) error {
		issued.ID = id
		return i.store.Create(audit.Note(ctx, "token.issue", string(id)+" of "+audit.User(owner), ""), issued)
	})
	if err != nil {
		return token.Token{}, token.Secret{}, user.Gone(err)
	}
	return issued, secret, nil
}

var errWiderScope = fault.New(fault.Forbidden, "This session may only read: it makes no token that may write.")

// IssueOwn gives a signed-in user a new access token.
type IssueOwn struct{ issue *Issue }

// Do is Issue.Do for the viewer. It fails with fault.Forbidden when the scope is wider than the viewer's own.
func (i *IssueOwn) Do(ctx context.Context, viewer token.Viewer, wanted IssueInput) (token.Token, token.Secret, error) {
	switch {
	case !viewer.SignedIn():
		return token.Token{}, token.Secret{}, token.Rejected()
	case viewer.MayWrite() != nil && wanted.Scope == token.Write:
		return token.Token{}, token.Secret{}, errWiderScope
	}
	return i.issue.Do(ctx, "id:"+string(viewer.User.ID), wanted)
}
