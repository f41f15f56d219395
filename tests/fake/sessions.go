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
func (t Tokens) StartSession(ctx context.Context, _ netip.Addr, started token.Token, replaces token.Hash) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if started.Parent != "" && !slices.ContainsFunc(t.tokens, func(known token.Token) bool {
		return known.ID == started.Parent && known.Kind == token.Access && known.RevokedAt.IsZero()
	}) {
		return errNotFound
	}
	if owner, ok := t.byID(started.Owner); ok && owner.Suspended {
		return token.ErrSuspended
	}
	if err := t.create(started); err != nil {
		return err
	}
	t.end(func(k token.Token) bool { return k.Hash == replaces })
	owned := 0
	for _, known := range t.sessions(started.Owner) {
		if owned++; known.ID != started.ID && (!known.ValidAt(started.CreatedAt) || owned > token.MaxSessions) {
			t.end(func(k token.Token) bool { return k.ID == known.ID })
		}
	}
	return nil
}

// sessions are those of an owner, the latest first.
func (t Tokens) sessions(owner user.ID) []token.Token {
	owned := []token.Token{}
	for _, known := range t.tokens {
		if known.Owner == owner && known.Kind == token.Session {
			owned = append(owned, known)
		}
	}
	slices.SortFunc(owned, func(a, b token.Token) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return owned
}

// end ends the sessions that match, and returns how many.
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
