package dataloader

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// TokenStore is what Tokens decorates.
type TokenStore interface {
	tokens.Store
	token.Importer
}

// Tokens decorates a store: it merges lookups by hash.
type Tokens struct {
	TokenStore

	byHash *loader[token.Hash, ownedToken]
}

// Tokens decorates the tokens of a store.
func (d *Dataloader) Tokens(store TokenStore) *Tokens {
	byHash := query[token.Hash, ownedToken]{
		values: func(hash token.Hash) []string { return []string{hex.EncodeToString(hash[:])} },
		newRow: func() scannable[ownedToken] { return new(tokenRow) },
	}
	byHash.one, byHash.many = statements(
		`t.id, t.user_id, t.kind, t.scope, coalesce(t.parent_id, ''), t.hash, t.name, t.created_at,
			t.expires_at, t.last_used_at, t.revoked_at, `+userColumns,
		`JOIN access_tokens t ON t.hash = decode(q.hash, 'hex') JOIN users u ON u.id = t.user_id`, "hash")
	return &Tokens{TokenStore: store, byHash: newLoader(d, d.slots, byHash)}
}

// ByHash implements token.Finder.
func (t *Tokens) ByHash(ctx context.Context, hash token.Hash) (token.Token, user.User, error) {
	found, err := t.byHash.find(ctx, hash)
	return found.token, found.owner, err
}

type ownedToken struct {
	token token.Token
	owner user.User
}

type tokenRow struct {
	token                      token.Token
	hash                       []byte
	expires, lastUsed, revoked *time.Time
	owner                      userRow
}

func (r *tokenRow) fields() []any {
	t := &r.token
	own := []any{
		(*string)(&t.ID), (*string)(&t.Owner), (*uint8)(&t.Kind), (*uint8)(&t.Scope), (*string)(&t.Parent), &r.hash, &t.Name,
		&t.CreatedAt, &r.expires, &r.lastUsed, &r.revoked,
	}
	return append(own, r.owner.fields()...)
}

func (r *tokenRow) addTo(found *ownedToken) error {
	t := r.token
	copy(t.Hash[:], r.hash)
	t.CreatedAt = t.CreatedAt.UTC()
	t.ExpiresAt, t.LastUsedAt, t.RevokedAt = instant(r.expires), instant(r.lastUsed), instant(r.revoked)
	found.token = t
	return r.owner.addTo(&found.owner)
}
