package gormstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
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
	rows, err := p.store.newPasteRows(created)
	if err != nil {
		return paste.Usage{}, err
	}
	err = p.store.writePaste(ctx, func(tx *gorm.DB) error {
		used, err = p.takeQuota(tx, client, quota)
		if err != nil {
			return err
		}
		return rows.insert(tx)
	})
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
	now, err = p.store.time(tx)
	return row, now, err
}

// ForgetClients implements paste.ClientForgetter.
func (p *Pastes) ForgetClients(ctx context.Context, limit int) (forgotten int, err error) {
	err = p.store.transaction(ctx, func(tx *gorm.DB) error {
		result := tx.Exec(`DELETE FROM paste_quotas WHERE client IN (SELECT client FROM paste_quotas WHERE full_at <= ? LIMIT ?)`,
			p.store.now(), limit)
		forgotten = int(result.RowsAffected)
		return result.Error
	})
	return forgotten, err
}
