package gormstore

import (
	"context"
	"database/sql"
)

// queryRow runs one of the statements of queries.go and scans its only row. It fails with
// fault.NotFound when there is none.
func (s *Store) queryRow(ctx context.Context, query string, fields []any, args ...any) error {
	prepared, err := s.prepared(ctx, query)
	if err != nil {
		return translate(err)
	}
	if prepared != nil {
		return translate(prepared.QueryRowContext(ctx, args...).Scan(fields...))
	}
	return translate(s.sql.QueryRowContext(ctx, query, args...).Scan(fields...))
}

// queryRowAnywhere is queryRow for what may come from a replica.
func (s *Store) queryRowAnywhere(ctx context.Context, query string, fields []any, args ...any) error {
	if len(s.replicas.all) == 0 {
		return s.queryRow(ctx, query, fields, args...)
	}
	return s.read(ctx, func(ctx context.Context, db *sql.DB) error {
		return translate(db.QueryRowContext(ctx, query, args...).Scan(fields...))
	})
}

// query runs one of the statements of queries.go. The error is the driver's.
func (s *Store) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	prepared, err := s.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	if prepared != nil {
		return prepared.QueryContext(ctx, args...)
	}
	return s.sql.QueryContext(ctx, query, args...)
}

// prepared returns the statement of a query on SQLite, which would otherwise parse and plan it each
// time. For PostgreSQL it returns nil: pgx prepares by itself, once for each connection.
func (s *Store) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s.sqlitePath == "" {
		return nil, nil //nolint:nilnil // see above
	}
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
