package gormstore

import (
	"context"
	"database/sql"
	"net/netip"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
)

var _ moderation.Blocker = (*Moderation)(nil)

type blockRow struct {
	Network   string    `gorm:"primaryKey"`
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt sql.NullTime
	Reason    string
}

func (blockRow) TableName() string { return "blocks" }

// guard fails when the client that a transaction writes for is blocked.
func guard(ctx context.Context, s *connection.Store, tx *gorm.DB) error {
	networks := moderation.NetworksOf(ctx)
	if len(networks) == 0 {
		return nil
	}
	var found []string
	err := unexpired(s, tx.Model(&blockRow{}).Where("network IN ?", networks)).Limit(1).Pluck("network", &found).Error
	if err == nil && len(found) > 0 {
		err = moderation.ErrBlocked
	}
	return err
}

// guardTogether is guard in a pipeline, where a statement has no other answer than an error: see diagnosePostgres.
func guardTogether(ctx context.Context, statements *connection.Pipeline) {
	if networks := moderation.NetworksOf(ctx); len(networks) > 0 {
		statements.Batch.Queue(`SELECT 1 / (CASE WHEN count(*) > 0 THEN 0 ELSE 1 END) FROM blocks
			WHERE network = ANY($1) AND (expires_at IS NULL OR expires_at > clock_timestamp())`, networks)
	}
}

// Block implements moderation.Blocker.
func (m *Moderation) Block(ctx context.Context, block moderation.Block) error {
	row := blockRow{block.Network.String(), connection.Instant(block.CreatedAt), connection.Nullable(block.ExpiresAt), block.Reason}
	return m.store.Transaction(ctx, func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// Unblock implements moderation.Blocker.
func (m *Moderation) Unblock(ctx context.Context, network netip.Prefix) error {
	return m.store.Transaction(ctx, func(tx *gorm.DB) error {
		return connection.OrNotFound(tx.Where("network = ?", network.String()).Delete(&blockRow{}))
	})
}

// Blocks implements moderation.Blocker.
func (m *Moderation) Blocks(ctx context.Context) ([]moderation.Block, error) {
	var rows []blockRow
	err := unexpired(m.store, m.store.Read(ctx)).Order("created_at DESC, network").Find(&rows).Error
	if err != nil {
		return nil, connection.Translate(err)
	}
	blocks := make([]moderation.Block, len(rows))
	for i, row := range rows {
		network, err := netip.ParsePrefix(row.Network)
		if err != nil {
			return nil, fault.Unforeseen(err)
		}
		blocks[i] = moderation.Block{
			Network: network, Reason: row.Reason, CreatedAt: row.CreatedAt.UTC(), ExpiresAt: connection.FromNullable(row.ExpiresAt),
		}
	}
	return blocks, nil
}
