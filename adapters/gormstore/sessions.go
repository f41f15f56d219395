package gormstore

import (
	"context"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ token.SessionStarter = (*Tokens)(nil)
	_ token.SessionLister  = (*Tokens)(nil)
	_ token.SessionEnder   = (*Tokens)(nil)
)

// StartSession implements token.SessionStarter. The parent is locked, so that no session begins while it is revoked.
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

// Sessions implements token.SessionLister.
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
	if !connection.IsText(string(id)) {
		return connection.ErrNotFound
	}
	return t.store.Transaction(ctx, func(tx *gorm.DB) error {
		return connection.OrNotFound(
			tx.Where("id = ? AND user_id = ? AND kind = ?", string(id), string(owner), token.Session).Delete(&tokenRow{}))
	})
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

// endSessionsOf ends the sessions that were made with tokens.
func endSessionsOf(tx *gorm.DB, parents []string) error {
	return tx.Where("parent_id IN ? AND user_id IN (?)", parents, tx.Model(&tokenRow{}).
		Select("user_id").Where("id IN ?", parents)).Delete(&tokenRow{}).Error
}
