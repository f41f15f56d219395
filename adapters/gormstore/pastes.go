package gormstore

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Pastes keeps pastes and the stars that users give them.
type Pastes struct {
	store     *Store
	active    *dataloader[struct{}, int64]
	open      *dataloader[paste.ID, heldDocument] // pastes that everybody may see
	documents *dataloader[documentKey, heldDocument]
	held      *dataloader[token.Hash, heldIDs]
	tokens    *dataloader[token.Hash, token.Token] // alone, while heldWaits
	heldWaits func() bool
	creations *dataloader[creation, token.Token] // of pastes with their owner, or with none
	owns      *dataloader[creation, token.Token] // of pastes of a token's owner
	counted   *dataloader[countedCreation, paste.Usage]
}

// NewPastes returns the pastes of a store.
func NewPastes(store *Store) *Pastes {
	p := &Pastes{store: store, open: newOpenDocuments(store), documents: newDocuments(store)}
	p.held, p.heldWaits = newHeldIDs(store)
	p.tokens = newTokensByHash(store)
	p.creations = newCreations(store, store.queries.createDocument, store.queries.createDocuments)
	p.owns = newCreations(store, store.queries.createOwn, store.queries.createOwns)
	p.counted = newCountedCreations(store)
	p.active = newDataloader(countsAtOnce, &store.batches.counts, p.countActive, func(
		ctx context.Context, askers []struct{},
	) ([]found[int64], error) {
		count, err := p.countActive(ctx, struct{}{})
		return slices.Repeat([]found[int64]{{value: count}}, len(askers)), err
	}, store.sql.bulk)
	p.active.patience, p.active.largest = countPatience, math.MaxInt
	return p
}

// Whoever asks for a count while one is under way waits for the next, and shares it with all who do: a count reads what has expired
// and was not swept yet, which can be much. One that takes as long as countPatience, because its connection
// hangs or a lock is held, is not waited for.
const (
	countsAtOnce  = 2
	countPatience = time.Second
)

var (
	_ paste.Counter        = (*Pastes)(nil)
	_ paste.ActiveIDLister = (*Pastes)(nil)
	_ paste.ExpiredRemover = (*Pastes)(nil)
	_ paste.OwnerLister    = (*Pastes)(nil)
	_ paste.Deleter        = (*Pastes)(nil)
	_ paste.Importer       = (*Pastes)(nil)
)

type pasteRow struct {
	ID         string `gorm:"primaryKey"`
	OwnerID    sql.NullString
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt  sql.NullTime
	Visibility int16
}

func (pasteRow) TableName() string { return "pastes" }

// ActiveCount implements paste.Counter. On PostgreSQL it takes the same time for any number of pastes: a sum of 64 counters, kept
// by triggers, less an index range of those that have expired and were not swept yet. On SQLite its time grows with the number of
// pastes, 2 ms for a million: it counts the entries of an index (decision 0005).
func (p *Pastes) ActiveCount(ctx context.Context) (int64, error) {
	return p.active.find(ctx, struct{}{})
}

func (p *Pastes) countActive(ctx context.Context, _ struct{}) (count int64, err error) {
	leave, err := enter(ctx, p.store.sql.bulk)
	if err != nil {
		return 0, err
	}
	defer leave()
	err = p.store.queryRow(ctx, fromPrimary, p.store.queries.activeCount, []any{&count}, p.store.timed()...)
	return count, err
}

// EachActiveID implements paste.ActiveIDLister. The ids come as one text and are parts of it: none is allocated, and
// whoever keeps one keeps the text. The connection is free again by the first call of visit; the gates bound how many
// such texts are in memory at once (decision 0004).
func (p *Pastes) EachActiveID(ctx context.Context, owner user.ID, visit func(paste.ID) error) error {
	leave, err := enter(ctx, p.store.sql.lists, p.store.sql.bulk)
	if err != nil {
		return err
	}
	defer leave()
	var (
		count int
		ids   string
		args  = p.store.timed(string(owner))
	)
	if err := p.store.queryRow(ctx, fromPrimary, p.store.queries.joinedActiveIDs, []any{&count, &ids}, args...); err != nil || count == 0 {
		return err
	}
	if strings.Count(ids, "\n")+1 != count { // another writer has stored an id with a line feed
		return p.eachActiveRow(ctx, visit, args)
	}
	return visiting(func() error {
		for id := range strings.SplitSeq(ids, "\n") {
			if err := visit(paste.ID(id)); err != nil {
				return err
			}
		}
		return nil
	}, p.store.sql.lists, p.store.sql.bulk)
}

// eachActiveRow is EachActiveID for ids of any form, each in a row of its own.
func (p *Pastes) eachActiveRow(ctx context.Context, visit func(paste.ID) error, args []any) error {
	var (
		id      string
		stopped error
	)
	err := p.store.queryRows(ctx, p.store.queries.activeIDs, []any{&id}, func() error {
		stopped = visiting(func() error { return visit(paste.ID(id)) }, p.store.sql.lists, p.store.sql.bulk)
		return stopped
	}, args...)
	if stopped != nil {
		return stopped
	}
	return err
}

// RemoveExpired implements paste.ExpiredRemover.
func (p *Pastes) RemoveExpired(ctx context.Context, grace time.Duration, limit int) (int, error) {
	tx, err := p.store.sql.BeginTx(ctx, nil)
	if err != nil {
		return 0, translate(err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after a commit
	if tryLock := p.store.queries.sweepTryLock; tryLock != "" {
		var locked bool
		if err := tx.QueryRowContext(ctx, tryLock).Scan(&locked); err != nil || !locked {
			return 0, translate(err)
		}
	}
	result, err := tx.ExecContext(ctx, p.store.queries.removeExpired, p.store.ago(grace), limit)
	if err != nil {
		return 0, translate(err)
	}
	removed, err := result.RowsAffected()
	if err != nil {
		return 0, translate(err)
	}
	return int(removed), translate(tx.Commit())
}

func newPasteRow(p paste.Paste) *pasteRow {
	return &pasteRow{
		ID: string(p.ID), OwnerID: sql.NullString{String: string(p.Owner), Valid: p.Owner != ""},
		CreatedAt: instant(p.CreatedAt), ExpiresAt: nullable(p.ExpiresAt),
	}
}

func (r *pasteRow) paste() paste.Paste {
	return paste.Paste{
		ID: paste.ID(r.ID), Owner: user.ID(r.OwnerID.String), CreatedAt: r.CreatedAt.UTC(), ExpiresAt: fromNullable(r.ExpiresAt),
	}
}

// EachByOwner implements paste.OwnerLister.
func (p *Pastes) EachByOwner(ctx context.Context, owner user.ID, visit func(paste.Paste) error) error {
	leave, err := enter(ctx, p.store.sql.lists, p.store.sql.bulk)
	if err != nil {
		return err
	}
	defer leave()
	query := p.store.gorm.WithContext(ctx).Model(&pasteRow{}).Where("owner_id = ?", string(owner)).Order("created_at DESC, id DESC")
	return walk(query, func(row *pasteRow) error { return visit(row.paste()) }, p.store.sql.lists, p.store.sql.bulk)
}

// Delete implements paste.Deleter.
func (p *Pastes) Delete(ctx context.Context, id paste.ID) error {
	if !isText(string(id)) {
		return errNotFound
	}
	return translate(orNotFound(p.store.gorm.WithContext(ctx).Where("id = ?", string(id)).Delete(&pasteRow{})))
}
