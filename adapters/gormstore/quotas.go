package gormstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ paste.CountedCreator  = (*Pastes)(nil)
	_ paste.ClientForgetter = (*Pastes)(nil)
)

var errNoSalt = errors.New("the salt of the clients' hashes is missing from paste_quota_salt")

// hashedClient is how many bytes of a client's hash are kept.
const hashedClient = 16

type quotaRow struct {
	Client []byte `gorm:"primaryKey"`
	FullAt time.Time
}

func (quotaRow) TableName() string { return "paste_quotas" }

// CreateCounted implements paste.CountedCreator.
func (p *Pastes) CreateCounted(
	ctx context.Context, client paste.Client, quota paste.Quota, created paste.Document,
) (used paste.Usage, err error) {
	created.Owner, created.Edits = "", nil
	rows, err := newPasteRows(p.store, created)
	if err != nil {
		return paste.Usage{}, err
	}
	rows.keepOrigin(ctx)
	err = p.store.WriteAfter(ctx, func(tx *gorm.DB) (err error) {
		used, err = p.takeQuota(tx, client, quota)
		return err
	}, rows.insert)
	if err != nil {
		return paste.Usage{}, err
	}
	return used, nil
}

// takeQuota counts a paste of a client.
func (p *Pastes) takeQuota(tx *gorm.DB, client paste.Client, quota paste.Quota) (used paste.Usage, err error) {
	row, now, err := p.lockedQuota(tx, client)
	if err != nil {
		return paste.Usage{}, err
	}
	if used, err = quota.Take(row.FullAt.Sub(now)); err != nil {
		return paste.Usage{}, err
	}
	return used, tx.Model(&row).Update("full_at", now.Add(used.Full)).Error
}

// lockedQuota returns what is kept of a client, which no other caller can change before the transaction ends, and the time.
func (p *Pastes) lockedQuota(tx *gorm.DB, client paste.Client) (row quotaRow, now time.Time, err error) {
	var salts [][]byte
	if err := tx.Table("paste_quota_salt").Pluck("salt", &salts).Error; err != nil {
		return quotaRow{}, time.Time{}, err
	}
	if len(salts) == 0 {
		return quotaRow{}, time.Time{}, fault.Unforeseen(errNoSalt)
	}
	hash := sha256.Sum256(append(salts[0], client...))
	row = quotaRow{Client: hash[:hashedClient], FullAt: time.Unix(0, 0).UTC()}
	// An update that changes nothing locks the row that is there. A sweep could remove one that was only looked at.
	lock := clause.OnConflict{
		Columns: []clause.Column{{Name: "client"}}, DoUpdates: clause.Assignments(map[string]any{"full_at": gorm.Expr("paste_quotas.full_at")}),
	}
	if err := tx.Clauses(lock).Create(&row).Error; err != nil {
		return quotaRow{}, time.Time{}, err
	}
	if err := tx.Where("client = ?", row.Client).Take(&row).Error; err != nil {
		return quotaRow{}, time.Time{}, err
	}
	now, err = p.store.Time(tx)
	return row, now, err
}

// ForgetClients implements paste.ClientForgetter.
func (p *Pastes) ForgetClients(ctx context.Context, limit int) (forgotten int, err error) {
	err = p.store.Transaction(ctx, func(tx *gorm.DB) error {
		result := tx.Exec(`DELETE FROM paste_quotas WHERE client IN (SELECT client FROM paste_quotas WHERE full_at <= ? LIMIT ?)`,
			p.store.Now(), limit)
		forgotten = int(result.RowsAffected)
		return result.Error
	})
	return forgotten, err
}

var (
	_ paste.AllowedCreator = (*Pastes)(nil)
	_ paste.AllowedUpdater = (*Pastes)(nil)
)

// CreateAllowed implements paste.AllowedCreator.
func (p *Pastes) CreateAllowed(ctx context.Context, allowance paste.Allowance, created paste.Document) (used paste.Usage, err error) {
	rows, err := newPasteRows(p.store, created)
	if err != nil {
		return paste.Usage{}, err
	}
	rows.keepOrigin(ctx)
	err = p.store.WriteAfter(ctx, func(tx *gorm.DB) (err error) {
		err = p.allow(tx, allowance, created.Owner, paste.Holding{Pastes: 1, Bytes: created.Bytes()})
		if err == nil && allowance.Rate.Pastes > 0 {
			used, err = p.takeQuota(tx, paste.Client("user "+created.Owner), allowance.Rate)
		}
		return err
	}, rows.insert)
	if err != nil {
		return paste.Usage{}, err
	}
	return used, nil
}

// allow looks whether a user may store more. The user's row is locked until the transaction ends, so that all who add to what one user
// has take turns. The sum is read with a statement of its own, which sees what those before have stored.
func (p *Pastes) allow(tx *gorm.DB, allowance paste.Allowance, owner user.ID, more paste.Holding) error {
	if err := lockUser(tx, owner); err != nil {
		return err
	}
	if allowance.Pastes == 0 && allowance.Bytes == 0 {
		return nil
	}
	var has paste.Holding
	err := unexpired(p.store, tx.Model(&pasteRow{}).Where("owner_id = ?", string(owner))).
		Select("count(*) AS pastes, cast(coalesce(sum(content_bytes + history_bytes), 0) AS bigint) AS bytes").Scan(&has).Error
	if err != nil {
		return err
	}
	return allowance.Add(has, more)
}

func lockUser(tx *gorm.DB, id user.ID) error {
	var row userRow
	return connection.ForUpdate(tx).Select("id").Where("id = ?", string(id)).Take(&row).Error
}

// UpdateAllowed implements paste.AllowedUpdater.
func (p *Pastes) UpdateAllowed(
	ctx context.Context, allowance paste.Allowance, editor user.ID, id paste.ID, change func(paste.Document) (paste.Change, error),
) (paste.Document, error) {
	return p.update(ctx, id, change, func(tx *gorm.DB) error { return lockUser(tx, editor) }, func(tx *gorm.DB, grown int64) error {
		return p.allow(tx, allowance, editor, paste.Holding{Bytes: grown})
	})
}
