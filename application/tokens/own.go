package tokens

import (
	"context"
	"slices"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

var errWiderScope = fault.New(fault.Forbidden, "This session may only read: it makes no token that may write.")

// IssueOwn gives a signed-in user a new access token.
type IssueOwn struct{ issue *Issue }

// Do is Issue.Do for the viewer. It fails with token.Rejected when the viewer has not signed in, and with fault.Forbidden when the
// scope is wider than the viewer's own.
func (i *IssueOwn) Do(ctx context.Context, viewer token.Viewer, wanted IssueInput) (token.Token, token.Secret, error) {
	switch {
	case !viewer.SignedIn():
		return token.Token{}, token.Secret{}, token.Rejected()
	case viewer.MayWrite() != nil && wanted.Scope == token.Write:
		return token.Token{}, token.Secret{}, errWiderScope
	}
	return i.issue.Do(ctx, "id:"+string(viewer.User.ID), wanted)
}

// RevokeOwn makes an access token of a signed-in user invalid.
type RevokeOwn struct {
	tokens interface {
		token.OwnerLister
		token.Revoker
	}
	revoke *Revoke
}

// Do is Revoke.Do for a token of the viewer's. It fails with token.Rejected when the viewer has not signed in.
func (r *RevokeOwn) Do(ctx context.Context, viewer token.Viewer, id string) error {
	if !viewer.SignedIn() {
		return token.Rejected()
	}
	owned, err := r.tokens.ByOwner(ctx, viewer.User.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(owned, func(t token.Token) bool { return string(t.ID) == id }) {
		return errNoToken
	}
	return r.revoke.Do(ctx, id)
}

// EndOwnSessions ends sessions of a signed-in user.
type EndOwnSessions struct{ tokens token.SessionEnder }

// Do ends the viewer's session with that id or, if that is empty, all but the one that the viewer has. It fails with token.Rejected when
// the viewer has not signed in, with fault.NotFound when there is no such session, and with fault.Unavailable when the store does
// not answer.
func (e *EndOwnSessions) Do(ctx context.Context, viewer token.Viewer, id string) error {
	if !viewer.SignedIn() {
		return token.Rejected()
	}
	if id == "" {
		_, err := e.tokens.EndSessions(ctx, viewer.User.ID, viewer.Token.ID)
		return err
	}
	return e.tokens.EndSession(ctx, viewer.User.ID, token.ID(id))
}
