package dataloader

import (
	"context"
	"encoding/hex"

	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Tokens decorates a store: it merges lookups by hash.
type Tokens struct {
	token.Store

	byHash *loader[token.Hash, []model.AccessToken]
}

// Tokens decorates the tokens of a store.
func (d *Dataloader) Tokens(store token.Store) *Tokens {
	return &Tokens{store, newLoader(d, d.slots, query[token.Hash, model.AccessToken]{
		columns: `t.id, t.user_id, t.kind, t.scope, t.parent_id, t.hash, t.name, t.created_at, t.expires_at, ` +
			`t.last_used_at, t.revoked_at, ` +
			userColumns,
		tables: `JOIN access_tokens t ON t.hash = decode(q.hash, 'hex') JOIN users u ON u.id = t.user_id`,
		names:  []string{"hash"},
		values: func(hash token.Hash) []string { return []string{hex.EncodeToString(hash[:])} },
		fields: func(t *model.AccessToken) []any {
			return append([]any{
				&t.ID, &t.UserID, &t.Kind, &t.Scope, &t.ParentID, &t.Hash, &t.Name, &t.CreatedAt, &t.ExpiresAt,
				&t.LastUsedAt, &t.RevokedAt,
			}, userFields(&t.User)...)
		},
	})}
}

// ByHash implements token.Store.
func (t *Tokens) ByHash(ctx context.Context, hash token.Hash) (token.Token, user.User, error) {
	rows, err := t.byHash.find(ctx, hash)
	if err != nil {
		return token.Token{}, user.User{}, err
	}
	owner, err := rows[0].User.Domain()
	return rows[0].Domain(), owner, err
}
