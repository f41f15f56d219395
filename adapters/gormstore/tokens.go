package gormstore

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Tokens stores access tokens and the sessions of browsers, which are tokens, too.
type Tokens struct{ store *db.Store }

// NewTokens returns the tokens of a store.
func NewTokens(store *db.Store) *Tokens { return &Tokens{store} }

// ByHash implements token.Store.
func (t *Tokens) ByHash(ctx context.Context, hash token.Hash) (token.Token, user.User, error) {
	var row model.AccessToken
	if err := t.store.Read(ctx).InnerJoins("User").Where("access_tokens.hash = ?", hash[:]).Take(&row).Error; err != nil {
		return token.Token{}, user.User{}, db.Translate(err)
	}
	owner, err := row.User.Domain()
	return row.Domain(), owner, err
}

// Create implements token.Store.
func (t *Tokens) Create(ctx context.Context, from netip.Addr, entry auditlog.Entry, created token.Token) error {
	return t.store.Record(ctx, entry, t.store.Transaction, t.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		return tx.Omit("User").Create(model.NewAccessToken(created)).Error
	}))
}

// usesBatch is how many last uses one transaction stores: it bounds how long its locks are held.
const usesBatch = 500

// SetLastUsed implements token.Store.
func (t *Tokens) SetLastUsed(ctx context.Context, uses map[token.ID]time.Time) error {
	ids := slices.Sorted(maps.Keys(uses)) // rows are locked in the order of their ids
	for batch := range slices.Chunk(ids, usesBatch) {
		err := t.store.Transaction(ctx, func(tx *gorm.DB) error {
			for _, id := range batch {
				at := model.Instant(uses[id])
				err := tx.Model(&model.AccessToken{}).
					Where("id = ? AND (last_used_at IS NULL OR last_used_at < ?)", string(id), at).
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

// ByOwner implements token.Store.
func (t *Tokens) ByOwner(ctx context.Context, owner user.ID) ([]token.Token, error) {
	return accessTokens(t.store.Read(ctx), owner)
}

func accessTokens(tx *gorm.DB, owner user.ID) ([]token.Token, error) {
	return tokensOf(tx.Order("created_at, id"), owner, token.Access)
}

func sessions(tx *gorm.DB, owner user.ID) ([]token.Token, error) {
	return tokensOf(tx.Order("created_at DESC, id"), owner, token.Session)
}

func tokensOf(query *gorm.DB, owner user.ID, kind token.Kind) ([]token.Token, error) {
	return list(query.Where("user_id = ? AND kind = ?", string(owner), kind),
		func(row *model.AccessToken) (token.Token, error) { return row.Domain(), nil })
}

// Export implements token.Store.
func (t *Tokens) Export(ctx context.Context, owner user.ID) (export token.Export, err error) {
	err = t.store.Snapshot(ctx, func(tx *gorm.DB) (err error) {
		if export.Account, err = accountOf(t.store, tx, owner); err != nil {
			return err
		}
		if export.FormerNames, err = formerNames(tx, owner); err != nil {
			return err
		}
		if export.Tokens, err = accessTokens(tx, owner); err != nil {
			return err
		}
		export.Sessions, err = sessions(tx, owner)
		return err
	}, t.store.Pastes)
	if err != nil {
		return token.Export{}, err
	}
	return export, nil
}

// Revoke implements token.Store.
func (t *Tokens) Revoke(ctx context.Context, from netip.Addr, entry auditlog.Entry, id token.ID, at time.Time) error {
	return t.store.Record(ctx, entry, t.store.Transaction, t.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		err := db.OrNotFound(tx.Model(&model.AccessToken{}).Where("id = ? AND kind = ?", string(id), token.Access).
			UpdateColumn("revoked_at", gorm.Expr("coalesce(revoked_at, ?)", model.Instant(at))))
		if err != nil {
			return err
		}
		return endSessionsOf(tx, []string{string(id)})
	}))
}

// StartSession implements token.Store. It locks the user and the parent, so that no session outlives a suspension or a
// revocation at the same moment.
func (t *Tokens) StartSession(ctx context.Context, from netip.Addr, started token.Token, replaces token.Hash) error {
	return t.store.Transaction(ctx, t.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		var owner model.User
		if err := db.ForShare(tx).Where("id = ?", string(started.Owner)).Take(&owner).Error; err != nil {
			return err
		}
		if owner.Suspended {
			return token.ErrSuspended
		}
		if started.Parent != "" {
			var parent model.AccessToken
			err := db.ForUpdate(tx).
				Where("id = ? AND kind = ? AND revoked_at IS NULL", string(started.Parent), token.Access).
				Take(&parent).Error
			if err != nil {
				return err
			}
		}
		if err := tx.Omit("User").Create(model.NewAccessToken(started)).Error; err != nil {
			return err
		}
		if err := endPresented(tx, replaces); err != nil {
			return err
		}
		return endOldSessions(tx, started)
	}))
}

// endOldSessions ends the owner's sessions that have expired when another one starts, and the oldest of too many.
func endOldSessions(tx *gorm.DB, started token.Token) error {
	sessions := func() *gorm.DB {
		return tx.Model(&model.AccessToken{}).Where("user_id = ? AND kind = ?", string(started.Owner), token.Session)
	}
	latest := sessions().Select("id").Order("created_at DESC, id").Limit(token.MaxSessions)
	now, idleSince := model.Instant(started.CreatedAt), model.Instant(started.CreatedAt.Add(-token.SessionIdle))
	return sessions().Where("id <> ?", string(started.ID)).
		Where("expires_at <= ? OR coalesce(last_used_at, created_at) <= ? OR id NOT IN (?)", now, idleSince, latest).
		Delete(nil).Error
}

// Sessions implements token.Store.
func (t *Tokens) Sessions(ctx context.Context, owner user.ID) ([]token.Token, error) {
	return sessions(t.store.Read(ctx), owner)
}

// EndSessionByHash implements token.Store.
func (t *Tokens) EndSessionByHash(ctx context.Context, hash token.Hash) error {
	return t.store.Transaction(ctx, func(tx *gorm.DB) error { return endPresented(tx, hash) })
}

func endPresented(tx *gorm.DB, hash token.Hash) error {
	return tx.Where("hash = ? AND kind = ?", hash[:], token.Session).Delete(&model.AccessToken{}).Error
}

// EndSession implements token.Store.
func (t *Tokens) EndSession(ctx context.Context, from netip.Addr, owner user.ID, id token.ID) error {
	const own = "id = ? AND user_id = ? AND kind = ?"
	deletion := deleteOne(&model.AccessToken{}, own, string(id), string(owner), token.Session)
	return t.store.Transaction(ctx, t.store.RefuseBlocked(from, deletion))
}

// EndSessions implements token.Store.
func (t *Tokens) EndSessions(
	ctx context.Context, from netip.Addr, entry auditlog.Entry, owner user.ID, but token.ID,
) (ended int, err error) {
	err = t.store.Record(ctx, entry, t.store.Transaction, t.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		ended, err = endSessions(tx, owner, but)
		return err
	}))
	return ended, err
}

func endSessions(tx *gorm.DB, owner user.ID, but token.ID) (ended int, err error) {
	// SetLastUsed locks tokens in the same order, which prevents deadlocks.
	ids := db.ForUpdate(tx.Model(&model.AccessToken{})).Select("id").
		Where("user_id = ? AND kind = ? AND id <> ?", string(owner), token.Session, string(but)).Order("id")
	result := tx.Where("id IN (?)", ids).Delete(&model.AccessToken{})
	return int(result.RowsAffected), result.Error
}

// endSessionsOf ends the sessions that were started with these tokens.
func endSessionsOf(tx *gorm.DB, parents []string) error {
	owners := tx.Model(&model.AccessToken{}).Select("user_id").Where("id IN ?", parents)
	return tx.Where("parent_id IN ? AND user_id IN (?)", parents, owners).Delete(&model.AccessToken{}).Error
}
