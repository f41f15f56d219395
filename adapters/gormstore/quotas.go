package gormstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

var (
	_ paste.CountedCreator  = (*Pastes)(nil)
	_ paste.ClientForgetter = (*Pastes)(nil)
)

// countedCreation is a paste to be stored on PostgreSQL and counted for a client.
type countedCreation struct {
	creation
	client paste.Client
	quota  paste.Quota
}

var (
	errQuotasDiffer = errors.New("pastes of different quotas cannot share a statement")
	errNoSalt       = errors.New("the salt of the clients' hashes is missing from paste_quota_salt")
)

// newCountedCreations returns how new pastes that are counted are stored, merged as those of newCreations.
func newCountedCreations(store *Store) *dataloader[countedCreation, paste.Usage] {
	together := func(ctx context.Context, creations []countedCreation) ([]found[paste.Usage], error) {
		quota, plain, clients := creations[0].quota, make([]creation, len(creations)), make([][]byte, len(creations))
		for i, c := range creations {
			if c.quota != quota {
				return nil, errQuotasDiffer // then each is stored by itself
			}
			plain[i], clients[i] = c.creation, []byte(c.client)
		}
		var (
			answers      = make([]found[paste.Usage], len(creations))
			position     int
			stored       bool
			microseconds int64
			args         = append(arrays(plain), quota.Interval(), quota.Pastes)
		)
		args[1] = clients // the owners are nobody
		err := store.creating(ctx, func(conn *pgx.Conn) error {
			for i := range answers { // it may be another attempt
				answers[i] = found[paste.Usage]{err: fault.Unforeseen(errNoSalt)}
			}
			return queryPostgresRows(ctx, conn, store.queries.createCounted, []any{&position, &stored, &microseconds}, func() error {
				answers[position-1] = counted(quota, stored, time.Duration(microseconds)*time.Microsecond)
				return nil
			}, args...)
		})
		return answers, err
	}
	alone := func(ctx context.Context, c countedCreation) (paste.Usage, error) {
		answers, err := together(ctx, []countedCreation{c})
		if err != nil {
			return paste.Usage{}, err
		}
		return answers[0].value, answers[0].err
	}
	return newDataloader(store.sql.creationsAtOnce, &store.batches.creations, alone, together, store.sql.writes, store.sql.bulk)
}

// counted is the answer of queries.createCounted for one paste, of which it says whether it was stored, and when its client has the
// whole quota again, as far as it knows.
func counted(quota paste.Quota, stored bool, full time.Duration) found[paste.Usage] {
	used := paste.Usage{Quota: quota, Full: full}
	switch {
	case stored:
		return found[paste.Usage]{value: used}
	case used.Left() > 0: // others took what was left after the statement had looked: it is then an interval at most
		used.Full = time.Duration(quota.Pastes) * quota.Interval()
	}
	return found[paste.Usage]{err: used.Refused()}
}

// CreateCounted implements paste.CountedCreator.
func (p *Pastes) CreateCounted(
	ctx context.Context, client paste.Client, quota paste.Quota, created paste.Document,
) (used paste.Usage, err error) {
	created.Owner, created.Edits = "", nil
	if p.store.file == nil {
		c := countedCreation{newCreation(token.Hash{}, created), client, quota}
		if len(c.document) > largeDocument {
			return p.counted.one(ctx, c)
		}
		return p.counted.find(ctx, c)
	}
	err = p.store.transaction(ctx, func(tx *gorm.DB) error {
		var salt []byte
		switch err := tx.Raw("SELECT salt FROM paste_quota_salt").Row().Scan(&salt); {
		case errors.Is(err, sql.ErrNoRows):
			return fault.Unforeseen(errNoSalt)
		case err != nil:
			return err
		}
		hash, now := sha256.Sum256(append(salt, client...)), instant(p.store.clock())
		var row quotaRow
		err := tx.Where("client = ?", hash[:hashedClient]).Take(&row).Error
		if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
			return err
		}
		if used, err = quota.Take(row.FullAt.Sub(now)); err != nil {
			return err
		}
		if err := createDocument(tx, created); err != nil {
			return err
		}
		return tx.Save(&quotaRow{Client: hash[:hashedClient], FullAt: now.Add(used.Full)}).Error
	})
	if err != nil {
		return paste.Usage{}, err
	}
	return used, nil
}

// hashedClient is how many bytes of a client's hash are kept, as queries.createCounted does.
const hashedClient = 16

type quotaRow struct {
	Client []byte `gorm:"primaryKey"`
	FullAt time.Time
}

func (quotaRow) TableName() string { return "paste_quotas" }

// ForgetClients implements paste.ClientForgetter.
func (p *Pastes) ForgetClients(ctx context.Context, limit int) (int, error) {
	result, err := p.store.sql.ExecContext(ctx, p.store.queries.forgetClients, p.store.ago(0), limit)
	if err != nil {
		return 0, translate(err)
	}
	forgotten, err := result.RowsAffected()
	return int(forgotten), translate(err)
}
