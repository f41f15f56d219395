package fake

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// StartSession implements token.Store.
func (t Tokens) StartSession(ctx context.Context, _ netip.Addr, session token.Token, replaces token.Hash) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if session.Parent != "" && !slices.ContainsFunc(t.tokens, func(other token.Token) bool {
		return other.ID == session.Parent && other.Kind == token.Access && other.RevokedAt.IsZero()
	}) {
		return errNotFound
	}
	if owner, ok := t.byID(session.Owner); ok && owner.Suspended {
		return token.ErrSuspended
	}
	if err := t.create(session); err != nil {
		return err
	}
	t.end(func(k token.Token) bool { return k.Hash == replaces })
	count := 0
	for _, other := range t.sessions(session.Owner) {
		if count++; other.ID != session.ID && (!other.ValidAt(session.CreatedAt) || count > token.MaxSessions) {
			t.end(func(k token.Token) bool { return k.ID == other.ID })
		}
	}
	return nil
}

// sessions returns the sessions of an owner, the latest first.
func (t Tokens) sessions(owner user.ID) []token.Token {
	sessions := []token.Token{}
	for _, stored := range t.tokens {
		if stored.Owner == owner && stored.Kind == token.Session {
			sessions = append(sessions, stored)
		}
	}
	slices.SortFunc(sessions, func(a, b token.Token) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return sessions
}

// end deletes the sessions that match, and returns their number.
func (t Tokens) end(matches func(token.Token) bool) int {
	before := len(t.tokens)
	t.tokens = slices.DeleteFunc(t.tokens, func(k token.Token) bool { return k.Kind == token.Session && matches(k) })
	return before - len(t.tokens)
}

func (t Tokens) endSessionsOf(parent token.ID) {
	t.end(func(k token.Token) bool { return k.Parent == parent })
}

// Sessions implements token.Store.
func (t Tokens) Sessions(ctx context.Context, owner user.ID) ([]token.Token, error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return t.sessions(owner), nil
}

// EndSessionByHash implements token.Store.
func (t Tokens) EndSessionByHash(ctx context.Context, hash token.Hash) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	t.end(func(k token.Token) bool { return k.Hash == hash })
	return nil
}

// EndSession implements token.Store.
func (t Tokens) EndSession(ctx context.Context, _ netip.Addr, owner user.ID, id token.ID) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if t.end(func(k token.Token) bool { return k.ID == id && k.Owner == owner }) == 0 {
		return errNotFound
	}
	return nil
}

// EndSessions implements token.Store.
func (t Tokens) EndSessions(ctx context.Context, _ netip.Addr, _ auditlog.Entry, owner user.ID,
	but token.ID) (ended int, err error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return t.end(func(k token.Token) bool { return k.Owner == owner && k.ID != but }), nil
}
