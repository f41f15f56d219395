package gormstore

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/gluepot/gluepot/domain/fault"
)

// What requests wait for is read here. On PostgreSQL it goes around database/sql once a connection is
// taken from its pool: its conversions and the goroutine that it starts for each query cost more than
// the rows. On SQLite statements are kept prepared, because parsing and planning cost more than running.

// queryRow runs one of the statements of queries.go and scans its only row. It fails with
// fault.NotFound when there is none.
func (s *Store) queryRow(ctx context.Context, query string, fields []any, args ...any) error {
	if s.sqlitePath == "" {
		return queryPostgresRow(ctx, s.sql.DB, query, fields, args...)
	}
	prepared, err := s.prepared(ctx, query)
	if err != nil {
		return translate(err)
	}
	return translate(prepared.QueryRowContext(ctx, args...).Scan(fields...))
}

// queryRowAnywhere is queryRow for what may come from a replica.
func (s *Store) queryRowAnywhere(ctx context.Context, query string, fields []any, args ...any) error {
	if s.sqlitePath != "" {
		return s.queryRow(ctx, query, fields, args...)
	}
	return s.read(ctx, func(ctx context.Context, db *sql.DB) error {
		return queryPostgresRow(ctx, db, query, fields, args...)
	})
}

// read runs a read that may go to a replica. One that does not answer in half of the time that is left
// is not asked again before the watcher has seen it answer, and the primary is asked instead.
func (s *Store) read(ctx context.Context, query func(context.Context, *sql.DB) error) error {
	candidate := s.replicas.pick()
	if candidate == nil {
		return query(ctx, s.sql.DB)
	}
	attempt, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		attempt, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	defer cancel()
	err := query(attempt, candidate.db)
	if err == nil || fault.KindOf(err) != fault.Unavailable || ctx.Err() != nil {
		return err
	}
	candidate.freshUntil.Store(0)
	return query(ctx, s.sql.DB)
}

func queryPostgresRow(ctx context.Context, db *sql.DB, query string, fields []any, args ...any) error {
	return onPostgres(ctx, db, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query, args...).Scan(fields...)
	})
}

// eachActiveID calls visit with each of an owner's ids, text that is borrowed from the driver: nothing is
// allocated for an id.
func (s *Store) eachActiveID(ctx context.Context, visit func([]byte) error, args ...any) error {
	leave, err := enter(ctx, s.sql.lists, s.sql.bulk)
	if err != nil {
		return err
	}
	defer leave()
	var (
		count     int
		ids       borrowed
		stopped   error
		ambiguous bool
	)
	err = s.eachRow(ctx, s.queries.joinedActiveIDs, []any{&count, &ids}, func() error {
		if ambiguous = count > 0 && bytes.Count(ids, lineFeed)+1 != count; ambiguous || count == 0 {
			return nil
		}
		for id := range bytes.SplitSeq(ids, lineFeed) {
			if stopped = visit(id); stopped != nil {
				return stopped
			}
		}
		return nil
	}, args...)
	if ambiguous && err == nil { // another writer has stored an id with a line feed
		err = s.eachRow(ctx, s.queries.activeIDs, []any{&ids}, func() error {
			stopped = visit(ids)
			return stopped
		}, args...)
	}
	if stopped != nil {
		return stopped
	}
	return err
}

var lineFeed = []byte{'\n'}

// borrowed is text that belongs to the driver and is valid until the next row.
type borrowed []byte

// ScanBytes implements pgtype.BytesScanner.
func (b *borrowed) ScanBytes(text []byte) error {
	*b = text
	return nil
}

// Scan implements sql.Scanner.
func (b *borrowed) Scan(text any) error {
	switch text := text.(type) {
	case nil:
		*b = nil
	case []byte:
		*b = text
	case string:
		*b = append((*b)[:0], text...)
	default:
		return fmt.Errorf("%T is not text", text)
	}
	return nil
}

// eachRow scans every row into fields and calls read after each.
func (s *Store) eachRow(ctx context.Context, query string, fields []any, read func() error, args ...any) error {
	if s.sqlitePath == "" {
		return eachPostgresRow(ctx, s.sql.DB, query, fields, read, args...)
	}
	prepared, err := s.prepared(ctx, query)
	if err != nil {
		return translate(err)
	}
	rows, err := prepared.QueryContext(ctx, args...) //nolint:rowserrcheck // scanRows asks
	if err != nil {
		return translate(err)
	}
	defer rows.Close() //nolint:errcheck // scanRows asks Err
	return translate(scanRows(rows, fields, read))
}

func eachPostgresRow(ctx context.Context, db *sql.DB, query string, fields []any, read func() error, args ...any) error {
	return onPostgres(ctx, db, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return scanRows(rows, fields, read)
	})
}

// scanRows does for both drivers what their rows have in common.
func scanRows(rows interface {
	Next() bool
	Scan(...any) error
	Err() error
}, fields []any, read func() error,
) error {
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanMany runs a statement on PostgreSQL whose first column says, counted from 1, which of n keys a row
// answers, and whose other columns go into fields, from which value makes the answer. A key without a
// row is not found.
func scanMany[V any](
	ctx context.Context, db *sql.DB, n int, fields []any, value func() (V, error), query string, args ...any,
) ([]found[V], error) {
	answers := make([]found[V], n)
	for i := range answers {
		answers[i].err = errNotFound
	}
	var position int
	err := eachPostgresRow(ctx, db, query, append([]any{&position}, fields...), func() error {
		answers[position-1].value, answers[position-1].err = value()
		return nil
	}, args...)
	return answers, err
}

// onPostgres lends a connection of the pool, as pgx knows it, and translates the error.
func onPostgres(ctx context.Context, db *sql.DB, use func(*pgx.Conn) error) error {
	pooled, err := db.Conn(ctx)
	if err != nil {
		return translate(err)
	}
	defer pooled.Close() //nolint:errcheck // it goes back to the pool, which looks whether it is alive
	return translate(pooled.Raw(func(conn any) error {
		return use(conn.(*stdlib.Conn).Conn()) //nolint:forcetypeassert // the pool was opened with pgx's driver
	}))
}

// prepared returns the statement of a query on SQLite.
func (s *Store) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if known, ok := s.statements.Load(query); ok {
		return known.(*sql.Stmt), nil //nolint:forcetypeassert // the map holds nothing else
	}
	made, err := s.sql.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if first, raced := s.statements.LoadOrStore(query, made); raced {
		_ = made.Close()              // another request was faster
		return first.(*sql.Stmt), nil //nolint:forcetypeassert // as above
	}
	return made, nil
}
