package gormstore

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// What requests wait for is read here. On PostgreSQL it goes around database/sql once a connection is
// taken from its pool: its conversions and the goroutine that it starts for each query cost more than
// the rows. On SQLite statements are kept prepared, because parsing and planning cost more than running.

// queryRow runs one of the statements of queries.go and scans its only row. It fails with
// fault.NotFound when there is none.
func (s *Store) queryRow(ctx context.Context, query string, fields []any, args ...any) error {
	if s.sqlitePath == "" {
		return queryPostgresRow(ctx, s.sql, query, fields, args...)
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

func queryPostgresRow(ctx context.Context, db *sql.DB, query string, fields []any, args ...any) error {
	return onPostgres(ctx, db, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query, args...).Scan(fields...)
	})
}

// eachValue calls visit with the only column of each row, text that is borrowed from the driver: nothing
// is allocated for a row.
func (s *Store) eachValue(ctx context.Context, query string, visit func([]byte) error, args ...any) error {
	if s.sqlitePath != "" {
		return s.eachSQLiteValue(ctx, query, visit, args...)
	}
	var stopped error
	err := onPostgres(ctx, s.sql, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if stopped = visit(rows.RawValues()[0]); stopped != nil {
				return nil
			}
		}
		return rows.Err()
	})
	if stopped != nil {
		return stopped
	}
	return err
}

func (s *Store) eachSQLiteValue(ctx context.Context, query string, visit func([]byte) error, args ...any) error {
	prepared, err := s.prepared(ctx, query)
	if err != nil {
		return translate(err)
	}
	rows, err := prepared.QueryContext(ctx, args...)
	if err != nil {
		return translate(err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	var value sql.RawBytes
	target := []any{&value}
	for rows.Next() {
		if err := rows.Scan(target...); err != nil {
			return translate(err)
		}
		if err := visit(value); err != nil {
			return err
		}
	}
	return translate(rows.Err())
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
	targets := append([]any{&position}, fields...)
	err := onPostgres(ctx, db, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(targets...); err != nil {
				return err
			}
			answers[position-1].value, answers[position-1].err = value()
		}
		return rows.Err()
	})
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
