package tokens

import (
	"context"
	"net/netip"
	"slices"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Sessions starts, lists and ends the sessions of browsers.
type Sessions struct{ *module }

// Start begins a session of a user in a browser, and returns its secret, which is not kept. The parent is the access
// token that the session is made with, or the zero Token: the session has its scope and ends with it. The session that
// the new one replaces ends, if there is one. The actor need not be that user, who has just signed in. It fails with
// token.ErrRejected when the user is gone or the parent is revoked.
func (s *Sessions) Start(
	ctx context.Context, actor audit.Actor, owner user.ID, parent token.Token, browser, replaces string,
) (token.Secret, error) {
	if err := actor.Check(); err != nil {
		return token.Secret{}, err
	}
	secret, now := token.Generate(), s.now()
	session := token.Token{
		Owner: owner, Kind: token.Session, Scope: parent.Scope, Parent: parent.ID, Hash: secret.Hash(), Name: browser,
		CreatedAt: now, ExpiresAt: now.Add(token.SessionAge),
	}
	if !parent.ExpiresAt.IsZero() && parent.ExpiresAt.Before(session.ExpiresAt) {
		session.ExpiresAt = parent.ExpiresAt
	}
	var oldHash token.Hash
	if old, err := token.ParseSecret(replaces); err == nil {
		oldHash = old.Hash()
	}
	err := ident.Draw(func(id token.ID) error {
		session.ID = id
		return s.store.StartSession(ctx, actor.Address(), session, oldHash)
	})
	return secret, fault.Replace(err, fault.NotFound, token.ErrRejected)
}

// EndBySecret ends the session with that secret, which a browser presents, if there is one. A blocked network does not
// matter: its users can sign out.
func (s *Sessions) EndBySecret(ctx context.Context, actor audit.Actor, text string) error {
	if err := actor.Check(); err != nil {
		return err
	}
	secret, err := token.ParseSecret(text)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to end
	}
	return s.store.EndSessionByHash(ctx, secret.Hash())
}

// ListOwn returns the viewer's active sessions, latest first.
func (s *Sessions) ListOwn(ctx context.Context, viewer token.Viewer) ([]token.Token, error) {
	if !viewer.SignedIn() {
		return nil, token.ErrRejected
	}
	return s.list(ctx, viewer.User.ID)
}

// List is ListOwn for the user with that name or id. It fails as audit.Actor.CheckAdministrator and user.Find do.
func (s *Sessions) List(ctx context.Context, actor audit.Actor, reference string) ([]token.Token, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return nil, err
	}
	owner, err := user.Find(ctx, s.users, reference)
	if err != nil {
		return nil, err
	}
	return s.list(ctx, owner.ID)
}

func (s *Sessions) list(ctx context.Context, owner user.ID) ([]token.Token, error) {
	sessions, err := s.store.Sessions(ctx, owner)
	return s.active(sessions), err
}

// active returns the sessions that have not ended.
func (m *module) active(sessions []token.Token) []token.Token {
	now := m.now()
	return slices.DeleteFunc(sessions, func(t token.Token) bool { return !t.ValidAt(now) })
}

// Export reads all that is stored about a signed-in user, except pastes.
type Export struct{ *module }

// Do returns the viewer's account as it was at one instant, with the sessions that had not ended.
func (e *Export) Do(ctx context.Context, viewer token.Viewer) (token.Export, error) {
	if !viewer.SignedIn() {
		return token.Export{}, token.ErrRejected
	}
	export, err := e.store.Export(ctx, viewer.User.ID)
	export.Sessions = e.active(export.Sessions)
	return export, fault.Replace(err, fault.NotFound, token.ErrRejected)
}

// EndAll ends all sessions of the user of that name or id, and returns how many. It fails with fault.Forbidden unless
// the actor is the operator or an administrator, and as user.Find does.
func (s *Sessions) EndAll(ctx context.Context, actor audit.Actor, reference string) (count int, err error) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return 0, err
	}
	owner, err := user.Find(ctx, s.users, reference)
	if err != nil {
		return 0, err
	}
	entry := actor.Entry("user.sign-out", owner.NameAndID(), "")
	return s.store.EndSessions(ctx, netip.Addr{}, entry, owner.ID, "")
}

// EndOwn ends the viewer's session with that id or, if the id is empty, all but the current one. It fails with
// fault.NotFound when there is no such session.
func (s *Sessions) EndOwn(ctx context.Context, actor audit.Actor, id string) error {
	viewer, err := actor.User()
	if err != nil {
		return err
	}
	if id == "" {
		_, err := s.store.EndSessions(ctx, actor.Address(), auditlog.Entry{}, viewer.User.ID, viewer.Token.ID)
		return err
	}
	return s.store.EndSession(ctx, actor.Address(), viewer.User.ID, token.ID(id))
}
