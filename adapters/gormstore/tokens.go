package gormstore

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Tokens stores access tokens and the sessions of browsers, which are tokens, too.
type Tokens struct{ store *connection.Store }

// NewTokens returns the tokens of a store.
func NewTokens(store *connection.Store) *Tokens { return &Tokens{store} }

type tokenRow struct {
	ID         string `gorm:"primaryKey"`
	UserID     string
	Kind       uint8
	Scope      uint8
	ParentID   sql.NullString
	Hash       []byte
	Name       string
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt  sql.NullTime
	LastUsedAt sql.NullTime
	RevokedAt  sql.NullTime
	User       userRow `gorm:"foreignKey:UserID"`
}

func (tokenRow) TableName() string { return "access_tokens" }

func newTokenRow(t token.Token) *tokenRow {
	return &tokenRow{
		ID: string(t.ID), UserID: string(t.Owner), Kind: uint8(t.Kind), Scope: uint8(t.Scope),
		ParentID: optional(string(t.Parent)), Hash: t.Hash[:], Name: t.Name,
		CreatedAt: connection.Instant(t.CreatedAt),
		ExpiresAt: connection.Nullable(t.ExpiresAt), LastUsedAt: connection.Nullable(t.LastUsedAt), RevokedAt: connection.Nullable(t.RevokedAt),
	}
}

func (r *tokenRow) token() token.Token {
	t := token.Token{
		ID: token.ID(r.ID), Owner: user.ID(r.UserID), Kind: token.Kind(r.Kind), Scope: token.Scope(r.Scope),
		Parent: token.ID(r.ParentID.String), Name: r.Name, CreatedAt: r.CreatedAt.UTC(),
		ExpiresAt: connection.FromNullable(r.ExpiresAt), LastUsedAt: connection.FromNullable(r.LastUsedAt),
		RevokedAt: connection.FromNullable(r.RevokedAt),
	}
	copy(t.Hash[:], r.Hash)
	return t
}

// ByHash implements token.Finder.
func (t *Tokens) ByHash(ctx context.Context, hash token.Hash) (token.Token, user.User, error) {
	var row tokenRow
	if err := t.store.Read(ctx).InnerJoins("User").Where("access_tokens.hash = ?", hash[:]).Take(&row).Error; err != nil {
		return token.Token{}, user.User{}, connection.Translate(err)
	}
	owner, err := row.User.user()
	return row.token(), owner, err
}

// Create implements token.Writer.
func (t *Tokens) Create(ctx context.Context, created token.Token) error {
	return t.store.Transaction(ctx, func(tx *gorm.DB) error { return tx.Omit("User").Create(newTokenRow(created)).Error })
}

// usesAtOnce bounds how long one transaction holds its locks.
const usesAtOnce = 500

// SetLastUsed implements token.Writer.
func (t *Tokens) SetLastUsed(ctx context.Context, uses map[token.ID]time.Time) error {
	ids := slices.Sorted(maps.Keys(uses)) // rows are locked in the order of their ids
	for some := range slices.Chunk(ids, usesAtOnce) {
		err := t.store.Transaction(ctx, func(tx *gorm.DB) error {
			for _, id := range some {
				at := connection.Instant(uses[id])
				err := tx.Model(&tokenRow{}).Where("id = ? AND (last_used_at IS NULL OR last_used_at < ?)", string(id), at).
					UpdateColumn("last_used_at", at).Error
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ByOwner implements token.Finder.
func (t *Tokens) ByOwner(ctx context.Context, owner user.ID) ([]token.Token, error) {
	return t.list(ctx, owner, token.Access, "created_at, id")
}

func (t *Tokens) list(ctx context.Context, owner user.ID, kind token.Kind, order string) ([]token.Token, error) {
	var rows []tokenRow
	if err := t.store.Read(ctx).Where("user_id = ? AND kind = ?", string(owner), kind).Order(order).Find(&rows).Error; err != nil {
		return nil, connection.Translate(err)
	}
	tokens := make([]token.Token, len(rows))
	for i := range rows {
		tokens[i] = rows[i].token()
	}
	return tokens, nil
}

// Revoke implements token.Revoker.
func (t *Tokens) Revoke(ctx context.Context, id token.ID, at time.Time) error {
	return t.store.Transaction(ctx, func(tx *gorm.DB) error {
		err := connection.OrNotFound(tx.Model(&tokenRow{}).Where("id = ? AND kind = ?", string(id), token.Access).
			UpdateColumn("revoked_at", gorm.Expr("coalesce(revoked_at, ?)", connection.Instant(at))))
		if err != nil {
			return err
		}
		return endSessionsOf(tx, []string{string(id)})
	})
}

// StartSession implements token.Writer. It locks the parent: no session survives a revocation at the same time.
func (t *Tokens) StartSession(ctx context.Context, started token.Token, replaces token.Hash) error {
	return t.store.Transaction(ctx, func(tx *gorm.DB) error {
		if started.Parent != "" {
			var parent tokenRow
			err := connection.ForUpdate(tx).
				Where("id = ? AND kind = ? AND revoked_at IS NULL", string(started.Parent), token.Access).Take(&parent).Error
			if err != nil {
				return err
			}
		}
		if err := tx.Omit("User").Create(newTokenRow(started)).Error; err != nil {
			return err
		}
		if err := endPresented(tx, replaces); err != nil {
			return err
		}
		owned := func() *gorm.DB {
			return tx.Model(&tokenRow{}).Where("user_id = ? AND kind = ?", string(started.Owner), token.Session)
		}
		latest := owned().Select("id").Order("created_at DESC, id").Limit(token.MaxSessions)
		return owned().Where("id <> ?", string(started.ID)).
			Where("expires_at <= ? OR coalesce(last_used_at, created_at) <= ? OR id NOT IN (?)",
				connection.Instant(started.CreatedAt), connection.Instant(started.CreatedAt.Add(-token.SessionIdle)), latest).Delete(nil).Error
	})
}

// Sessions implements token.Finder.
func (t *Tokens) Sessions(ctx context.Context, owner user.ID) ([]token.Token, error) {
	return t.list(ctx, owner, token.Session, "created_at DESC, id")
}

// EndPresented implements token.SessionEnder.
func (t *Tokens) EndPresented(ctx context.Context, hash token.Hash) error {
	return t.store.Transaction(ctx, func(tx *gorm.DB) error { return endPresented(tx, hash) })
}

func endPresented(tx *gorm.DB, hash token.Hash) error {
	return tx.Where("hash = ? AND kind = ?", hash[:], token.Session).Delete(&tokenRow{}).Error
}

// EndSession implements token.SessionEnder.
func (t *Tokens) EndSession(ctx context.Context, owner user.ID, id token.ID) error {
	return deleteOne(ctx, t.store, &tokenRow{}, "id = ? AND user_id = ? AND kind = ?", string(id), string(owner), token.Session)
}

// EndSessions implements token.SessionEnder.
func (t *Tokens) EndSessions(ctx context.Context, owner user.ID, but token.ID) (ended int, err error) {
	err = t.store.Transaction(ctx, func(tx *gorm.DB) error {
		result := tx.Where("user_id = ? AND kind = ? AND id <> ?", string(owner), token.Session, string(but)).Delete(&tokenRow{})
		ended = int(result.RowsAffected)
		return result.Error
	})
	return ended, err
}

// endSessionsOf ends the sessions that were started with these tokens.
func endSessionsOf(tx *gorm.DB, parents []string) error {
	return tx.Where("parent_id IN ? AND user_id IN (?)", parents, tx.Model(&tokenRow{}).
		Select("user_id").Where("id IN ?", parents)).Delete(&tokenRow{}).Error
}
