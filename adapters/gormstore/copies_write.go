package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/fault"
)

// Write implements copies.Target.
func (c *Copies) Write(ctx context.Context, run string, table copies.Table, changes copies.Changes) error {
	if len(changes.Removed) > 0 { // what refers to the rows is found by an index
		if err := c.makeIndexes(ctx); err != nil {
			return translate(err)
		}
	}
	if c.store.file != nil {
		return translate(c.writeSQLite(ctx, run, described(table), changes))
	}
	return lendConn(ctx, c.store.sql.DB, func(ctx context.Context, conn *pgx.Conn) error {
		return writePostgres(ctx, conn, run, described(table), changes)
	})
}

// writePostgres adds rows by COPY.
func writePostgres(ctx context.Context, conn *pgx.Conn, run string, t copiedTable, changes copies.Changes) error {
	for _, row := range slices.Concat(changes.Added, changes.Changed) {
		if err := t.checkTexts(row); err != nil {
			return err
		}
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // does nothing after a commit
	var last string
	if err := tx.QueryRow(ctx, "SELECT run FROM "+copiesTable+" FOR UPDATE").Scan(&last); err != nil {
		return err
	}
	if last != run {
		return errOtherCopy
	}
	one := &pgx.Batch{}
	for _, key := range changes.Removed {
		one.Queue(t.remove(), key...)
	}
	for _, row := range changes.Changed {
		one.Queue(t.update(), row...)
	}
	if one.Len() > 0 {
		if err := tx.SendBatch(ctx, one).Close(); err != nil {
			return err
		}
	}
	if len(changes.Added) > 0 {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{t.Name}, t.names(0),
			pgx.CopyFromSlice(len(changes.Added), func(i int) ([]any, error) { return changes.Added[i], nil }))
		if err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

// checkTexts fails with fault.Invalid when PostgreSQL would not take a text.
func (t copiedTable) checkTexts(row copies.Row) error {
	for i, value := range row {
		if text, ok := value.(string); ok && !isText(text) {
			return fault.New(fault.Invalid, fmt.Sprintf("PostgreSQL cannot keep the %s of %q: it has U+0000 in it, or is not UTF-8.",
				t.columns[i].name, row[:t.Key]))
		}
	}
	return nil
}

// sqliteCache is how much SQLite keeps in memory, in KiB: of an index while rows are added to it in another order, and of what it sorts
// to make one.
const sqliteCache = 12 << 10

func (c *Copies) writeSQLite(ctx context.Context, run string, t copiedTable, changes copies.Changes) error {
	return c.inTx(ctx, func(tx *sql.Tx) error {
		var last string
		if err := tx.QueryRowContext(ctx, "SELECT run FROM "+copiesTable).Scan(&last); err != nil {
			return err
		}
		if last != run {
			return errOtherCopy
		}
		err := execEach(ctx, tx, t.remove(), len(changes.Removed), func(i int) []any { return changes.Removed[i] })
		if err != nil {
			return err
		}
		err = execEach(ctx, tx, t.update(), len(changes.Changed), func(i int) []any { return changes.Changed[i] })
		if err != nil {
			return err
		}
		return execEach(ctx, tx, t.insert(), len(changes.Added), func(i int) []any { return changes.Added[i] })
	})
}

// inTx runs change in a transaction.
func (c *Copies) inTx(ctx context.Context, change func(*sql.Tx) error) error {
	conn, err := c.store.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	if c.store.file != nil {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA cache_size = -%d", sqliteCache)); err != nil {
			return err
		}
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after a commit
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// insert is a statement for one row. One for several is no quicker: SQLite keeps copies of the pages as they were before a statement
// that stores more than one row.
func (t copiedTable) insert() string {
	return "INSERT INTO " + t.Name + " (" + strings.Join(t.names(0), ", ") + ") VALUES (" + placeholders(len(t.columns)) + ")"
}

// execEach runs a statement n times with the arguments that args returns. Each is short, and not interrupted: for one that can be, the
// driver starts a goroutine.
func execEach(ctx context.Context, tx *sql.Tx, statement string, n int, args func(i int) []any) (err error) {
	if n == 0 {
		return nil
	}
	prepared, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, prepared.Close()) }()
	uninterrupted := context.WithoutCancel(ctx)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := prepared.ExecContext(uninterrupted, args(i)...); err != nil {
			return err
		}
	}
	return nil
}
