package gormstore

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

// takeQuota counts one more paste of a client, and returns the client's usage after it. If there is a quota, the
// client's row is locked until the transaction ends.
func (p *Pastes) takeQuota(tx *gorm.DB, client paste.Client, quota paste.Quota) (usage paste.Usage, err error) {
	if quota.Pastes == 0 {
		return usage, nil
	}
	full, err := changeQuota(p.store, tx, client, quota.Take)
	if err != nil {
		return usage, err
	}
	return paste.Usage{Quota: quota, Full: full}, nil
}

// changeQuota changes the time until a client has its whole quota again, and returns the new one. It locks the client's
// row until the transaction ends.
func changeQuota(
	s *db.Store, tx *gorm.DB, client paste.Client, change func(full time.Duration) (time.Duration, error),
) (full time.Duration, err error) {
	var salt []byte
	if err := tx.Raw("SELECT salt FROM paste_quota_salt").Row().Scan(&salt); err != nil {
		return 0, err
	}
	hash := sha256.Sum256(append(salt, client...))
	row := model.PasteQuota{Client: hash[:16], FullAt: time.Unix(0, 0).UTC()}
	// An update that changes nothing locks the row: a sweep could remove a row that is only read.
	lock := clause.OnConflict{
		Columns:   []clause.Column{{Name: "client"}},
		DoUpdates: clause.Assignments(map[string]any{"full_at": gorm.Expr("paste_quotas.full_at")}),
	}
	if err := tx.Clauses(lock).Create(&row).Error; err != nil {
		return 0, err
	}
	if err := tx.Where("client = ?", row.Client).Take(&row).Error; err != nil {
		return 0, err
	}
	now, err := s.Time(tx)
	if err != nil {
		return 0, err
	}
	if full, err = change(row.FullAt.Sub(now)); err != nil {
		return 0, err
	}
	return full, tx.Model(&row).Update("full_at", now.Add(full)).Error
}

// ForgetClients implements paste.Store.
func (p *Pastes) ForgetClients(ctx context.Context, limit int) (int, error) {
	return p.purge(ctx, `DELETE FROM paste_quotas WHERE full_at <= ? AND client IN (
		SELECT client FROM paste_quotas WHERE full_at <= ? LIMIT ?)`, p.store.Now(), p.store.Now(), limit)
}

// Origin implements moderation.Store.
func (m *Moderation) Origin(ctx context.Context, id paste.ID) (netip.Addr, error) {
	origin := m.store.Read(ctx).Where("paste_id = ?", string(id))
	return find(origin, func(row *model.PasteOrigin) (netip.Addr, error) { return fromRow(netip.ParseAddr(row.Address)) })
}

// fromRow returns a value that was parsed from a row. Only a defect makes one unreadable.
func fromRow[T any](value T, err error) (T, error) {
	if err != nil {
		err = fault.Unexpected(err)
	}
	return value, err
}

// ForgetOrigins implements paste.Store.
func (p *Pastes) ForgetOrigins(ctx context.Context, retention time.Duration, limit int) (int, error) {
	return p.purge(ctx, `DELETE FROM paste_origins WHERE paste_id IN (
		SELECT paste_id FROM paste_origins WHERE created_at <= ? ORDER BY created_at LIMIT ?)`, p.store.Ago(retention), limit)
}

// Block implements moderation.Store.
func (m *Moderation) Block(ctx context.Context, entry auditlog.Entry, block moderation.Block) error {
	row := model.Block{
		Network: block.Network.String(), Reason: block.Reason, CreatedAt: model.Instant(block.CreatedAt),
		ExpiresAt: model.Nullable(block.ExpiresAt),
	}
	return m.store.Record(ctx, entry, m.store.Transaction, func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// Unblock implements moderation.Store.
func (m *Moderation) Unblock(ctx context.Context, entry auditlog.Entry, network netip.Prefix) error {
	deletion := deleteOne(&model.Block{}, "network = ?", network.String())
	return m.store.Record(ctx, entry, m.store.Transaction, deletion)
}

// Blocks implements moderation.Store.
func (m *Moderation) Blocks(ctx context.Context) ([]moderation.Block, error) {
	blocks := unexpired(m.store, m.store.Read(ctx)).Order("created_at DESC, network")
	return list(blocks, func(row *model.Block) (moderation.Block, error) {
		network, err := fromRow(netip.ParsePrefix(row.Network))
		return moderation.Block{
			Network: network, Reason: row.Reason, CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.Time.UTC(),
		}, err
	})
}
