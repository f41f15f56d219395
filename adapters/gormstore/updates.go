package gormstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// updateInTwo is Update on PostgreSQL, in two round trips: one begins the transaction, locks and reads, the other writes and
// commits. The lock and the read are statements of their own, as in lockPaste.
//
// Why it is there: writes may have less than half of the connections, and six round trips kept each of them three times as
// long (decision 0038).
func (p *Pastes) updateInTwo(
	ctx context.Context, id paste.ID, presented token.Hash, change changeFunc,
) (updated paste.Document, err error) {
	leave, err := enter(ctx, p.store.sql.writes, p.store.sql.bulk)
	if err != nil {
		return paste.Document{}, err
	}
	defer leave()
	err = retried(ctx, func() error {
		return lendConn(ctx, p.store.sql.DB, func(ctx context.Context, conn *pgx.Conn) (err error) {
			defer func() {
				if ending := endTransaction(conn); err == nil {
					err = ending
				}
			}()
			updated, err = applied(change,
				func() (heldDocument, error) { return p.readLocked(ctx, conn, id, presented) },
				func(held heldDocument, changed paste.Change) error { return p.writeLocked(ctx, conn, held, changed) })
			return err
		})
	})
	if err != nil {
		return paste.Document{}, err
	}
	return updated, nil
}

// readLocked begins a transaction and does what locked does.
func (p *Pastes) readLocked(ctx context.Context, conn *pgx.Conn, id paste.ID, presented token.Hash) (heldDocument, error) {
	var (
		row   heldRow
		batch pgx.Batch
	)
	batch.Queue("BEGIN")
	batch.Queue(p.store.queries.lockPaste, string(id))
	batch.Queue(p.store.queries.wholeDocumentByID, string(id), presented[:])
	results := conn.SendBatch(ctx, &batch)
	for range 2 {
		if _, err := results.Exec(); err != nil {
			return heldDocument{}, errors.Join(err, results.Close())
		}
	}
	err := results.QueryRow().Scan(row.fields()...)
	if closing := results.Close(); closing != nil {
		return heldDocument{}, closing
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		if err != nil {
			return heldDocument{}, err
		}
		return row.value()
	}
	var holder tokenRow
	switch err := conn.QueryRow(ctx, p.store.queries.tokenByHash, presented[:]).Scan(holder.fields()...); {
	case errors.Is(err, pgx.ErrNoRows):
		return heldDocument{}, nil
	case err != nil:
		return heldDocument{}, err
	}
	return heldDocument{holder: holder.token()}, nil
}

// writeLocked does what store does, and commits.
func (p *Pastes) writeLocked(ctx context.Context, conn *pgx.Conn, before heldDocument, changed paste.Change) error {
	var (
		batch pgx.Batch
		id    = string(changed.ID)
		first = before.firstEdit + int64(changed.Dropped)
		row   = newContentRow(changed.Document, first)
	)
	if changed.Visibility != before.document.Visibility {
		batch.Queue(p.store.queries.setVisibility, id, int16(changed.Visibility))
	}
	batch.Queue(p.store.queries.storeContent, id, row.Lifetime, row.Document, first, row.Edits, row.HistoryBytes)
	if changed.Dropped > 0 {
		batch.Queue(p.store.queries.dropEdits, id, first)
	}
	for _, e := range newEditRows(changed.ID, changed.Recorded, before.nextEdit) {
		batch.Queue(p.store.queries.storeEdit, id, e.Position, e.Entry)
	}
	batch.Queue("COMMIT")
	return conn.SendBatch(ctx, &batch).Close()
}

// endTransaction rolls back what was not committed. The context may have ended; a connection on which that fails is closed.
func endTransaction(conn *pgx.Conn) error {
	const idle = 'I'
	if conn.IsClosed() || conn.PgConn().TxStatus() == idle {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		return conn.Close(ctx)
	}
	return nil
}
