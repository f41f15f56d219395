package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ user.Lister        = (*Users)(nil)
	_ user.ServiceFinder = (*Users)(nil)
	_ user.Editor        = (*Users)(nil)
	_ user.Counter       = (*Users)(nil)
	_ token.OwnerLister  = (*Tokens)(nil)
	_ token.Revoker      = (*Tokens)(nil)
	_ token.Counter      = (*Tokens)(nil)
	_ paste.OwnerReader  = (*Pastes)(nil)
	_ paste.Deleter      = (*Pastes)(nil)
	_ paste.Unstarrer    = (*Pastes)(nil)
	_ paste.Totals       = (*Pastes)(nil)
)

// Each implements user.Lister.
func (u *Users) Each(ctx context.Context, visit func(user.User) error) error {
	return eachRow(u.store.gorm.WithContext(ctx).Model(&userRow{}).Order("username_folded"), func(row *userRow) error {
		found, err := row.user()
		if err != nil {
			return err
		}
		return visit(found)
	})
}

// Services implements user.ServiceFinder.
func (u *Users) Services(ctx context.Context, id user.ID) (map[string]string, error) {
	var rows []serviceRow
	if err := u.store.gorm.WithContext(ctx).Where("user_id = ?", string(id)).Find(&rows).Error; err != nil {
		return nil, translate(err)
	}
	services := make(map[string]string, len(rows))
	for _, row := range rows {
		services[row.Service] = row.ServiceUserID
	}
	return services, nil
}

// Update implements user.Editor.
func (u *Users) Update(ctx context.Context, changed user.User, services map[string]string) error {
	return translate(u.store.gorm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		row := newUserRow(changed)
		result := tx.Model(row).Select("*").Omit("id", "created_at").Updates(row)
		if err := one(result); err != nil {
			return err
		}
		if err := tx.Where("user_id = ?", row.ID).Delete(&serviceRow{}).Error; err != nil || len(services) == 0 {
			return err
		}
		return tx.Create(newServiceRows(changed.ID, services)).Error
	}))
}

// Delete implements user.Editor. Foreign keys take along what belongs to the user.
func (u *Users) Delete(ctx context.Context, id user.ID) error {
	return translate(one(u.store.gorm.WithContext(ctx).Delete(&userRow{ID: string(id)})))
}

// Count implements user.Counter.
func (u *Users) Count(ctx context.Context) (int64, error) {
	return count(u.store.gorm.WithContext(ctx).Model(&userRow{}))
}

// ByOwner implements token.OwnerLister.
func (t *Tokens) ByOwner(ctx context.Context, owner user.ID) ([]token.Token, error) {
	var rows []tokenRow
	if err := t.store.gorm.WithContext(ctx).Where("user_id = ?", string(owner)).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, translate(err)
	}
	tokens := make([]token.Token, len(rows))
	for i := range rows {
		tokens[i] = rows[i].token()
	}
	return tokens, nil
}

// Revoke implements token.Revoker.
func (t *Tokens) Revoke(ctx context.Context, id token.ID, at time.Time) error {
	result := t.store.gorm.WithContext(ctx).Model(&tokenRow{}).Where("id = ?", string(id)).
		Update("revoked_at", gorm.Expr("coalesce(revoked_at, ?)", instant(at)))
	return translate(one(result))
}

// Count implements token.Counter.
func (t *Tokens) Count(ctx context.Context) (int64, error) {
	return count(t.store.gorm.WithContext(ctx).Model(&tokenRow{}))
}

// EachOf implements paste.OwnerReader.
func (p *Pastes) EachOf(ctx context.Context, owner user.ID, visit func(paste.Paste) error) error {
	query := p.store.gorm.WithContext(ctx).Model(&pasteRow{}).Where("owner_id = ?", string(owner)).Order("created_at DESC, id DESC")
	return eachRow(query, func(row *pasteRow) error { return visit(row.paste()) })
}

// Delete implements paste.Deleter.
func (p *Pastes) Delete(ctx context.Context, id paste.ID) error {
	return translate(one(p.store.gorm.WithContext(ctx).Delete(&pasteRow{ID: string(id)})))
}

// Unstar implements paste.Unstarrer.
func (p *Pastes) Unstar(ctx context.Context, starrer user.ID, id paste.ID) error {
	return translate(one(p.store.gorm.WithContext(ctx).Delete(&starRow{UserID: string(starrer), PasteID: string(id)})))
}

// ExpiredCount implements paste.Totals.
func (p *Pastes) ExpiredCount(ctx context.Context, now time.Time) (int64, error) {
	return count(p.store.gorm.WithContext(ctx).Model(&pasteRow{}).Where("expires_at <= ?", instant(now)))
}

// WaitingStars implements paste.Totals.
func (p *Pastes) WaitingStars(ctx context.Context) (int64, error) {
	return count(p.store.gorm.WithContext(ctx).Model(&starRow{}).Where("NOT EXISTS (SELECT 1 FROM pastes p WHERE p.id = stars.paste_id)"))
}

// eachRow calls visit with one row of a query after the other, without holding them all.
func eachRow[T any](query *gorm.DB, visit func(*T) error) error {
	rows, err := query.Rows()
	if err != nil {
		return translate(err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		var row T
		if err := query.ScanRows(rows, &row); err != nil {
			return translate(err)
		}
		if err := visit(&row); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}

func count(query *gorm.DB) (n int64, err error) {
	err = query.Count(&n).Error
	return n, translate(err)
}

// one turns a change that found nothing to change into the error for that.
func one(result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return gorm.ErrRecordNotFound
	}
	return result.Error
}
