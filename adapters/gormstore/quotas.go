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

var _ paste.ClientForgetter = (*Pastes)(nil)

var errNoSalt = errors.New("the salt of the clients' hashes is missing from paste_quota_salt")

// hashedClient is how many bytes of a client's hash are kept.
const hashedClient = 16

type quotaRow struct {
	Client []byte `gorm:"primaryKey"`
	FullAt time.Time
}

func (quotaRow) TableName() string { return "paste_quotas" }

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

// lockHolder locks a user whose pastes are bounded until the transaction ends, so that all who add to what one user has take turns.
func (*Pastes) lockHolder(tx *gorm.DB, allowance paste.Allowance, holder user.ID) error {
	if holder == "" || allowance.Pastes == 0 && allowance.Bytes == 0 {
		return nil
	}
	return connection.ForUpdate(tx).Select("id").Where("id = ?", string(holder)).Take(&userRow{}).Error
}

// allow looks whether a user who is locked may store more. A statement of its own sees what those before have stored.
func (p *Pastes) allow(tx *gorm.DB, allowance paste.Allowance, holder user.ID, more paste.Holding) error {
	if holder == "" || allowance.Pastes == 0 && allowance.Bytes == 0 {
		return nil
	}
	var has paste.Holding
	err := unexpired(p.store, tx.Model(&pasteRow{}).Where("owner_id = ?", string(holder))).
		Select("count(*) AS pastes, cast(coalesce(sum(content_bytes + history_bytes), 0) AS bigint) AS bytes").Scan(&has).Error
	if err != nil {
		return err
	}
	return allowance.Add(has, more)
}
