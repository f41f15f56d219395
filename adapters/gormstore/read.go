package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/gluepot/gluepot/domain/fault"
)

// What requests wait for is read here, by the fixed SQL of queries.go. On PostgreSQL it goes around database/sql once a
// connection is taken from its pool: its conversions and the goroutine that it starts for each query cost more than
// the rows. On SQLite statements are kept prepared, because parsing and planning cost more than running (decision 0004).

// lookup says how values are found by a key of one kind. A dataloader calls find and findMany.
type lookup[K, V any] struct {
	store  *Store
	from   source
	gates  []*gate             // what each statement passes
	inside atomic.Int32        // statements that have passed them
	one    string              // the statement for one key
	args   func(K) []any       // its arguments
	many   string              // the statement for several keys, see findMany
	arrays func([]K) []any     // its arguments
	newRow func() scannable[V] // where a row of either is scanned to
}

// scannable is a row of an answer.
type scannable[V any] interface {
	fields() []any // where to scan the statement's columns to, in their order
	value() (V, error)
}

// source says which databases may answer a read.
type source uint8

const (
	fromPrimary source = iota // what must be true now, and what decides something
	fromReplica               // what may be as old as a replica (decision 0012)
)

// merged returns a dataloader that looks keys up so.
func (l *lookup[K, V]) merged(most int, sizes *batchSizes) *dataloader[K, V] {
	return newDataloader(most, sizes, l.find, l.findMany, l.gates...)
}

// find looks one key up. It fails with fault.NotFound when there is no row.
func (l *lookup[K, V]) find(ctx context.Context, key K) (none V, err error) {
	if len(l.gates) > 0 {
		leave, err := enter(ctx, l.gates...)
		if err != nil {
			return none, err
		}
		defer leave()
		l.inside.Add(1)
		defer l.inside.Add(-1)
	}
	row := l.newRow()
	if err := l.store.queryRow(ctx, l.from, l.one, row.fields(), l.args(key)...); err != nil {
		return none, err
	}
	return row.value()
}

// findMany looks several keys up with one statement on PostgreSQL, whose first column says, counted from 1, which of the
// keys a row answers. A key without a row is not found.
func (l *lookup[K, V]) findMany(ctx context.Context, keys []K) ([]found[V], error) {
	if len(l.gates) > 0 {
		leave, err := enter(ctx, l.gates...)
		if err != nil {
			return nil, err
		}
		defer leave()
		l.inside.Add(1)
		defer l.inside.Add(-1)
	}
	var (
		answers  = make([]found[V], len(keys))
		position int
		row      = l.newRow()
		fields   = append([]any{&position}, row.fields()...)
		arrays   = l.arrays(keys)
	)
	err := l.store.onPostgres(ctx, l.from, func(ctx context.Context, conn *pgx.Conn) error {
		for i := range answers { // a replica may have failed after some rows
			answers[i] = found[V]{err: errNotFound}
		}
		return queryPostgresRows(ctx, conn, l.many, fields, func() error {
			answers[position-1].value, answers[position-1].err = row.value()
			return nil
		}, arrays...)
	})
	return answers, err
}

// queryRow runs one of the statements of queries.go and scans its only row. It fails with
// fault.NotFound when there is none.
func (s *Store) queryRow(ctx context.Context, from source, query string, fields []any, args ...any) error {
	if s.file == nil {
		return s.onPostgres(ctx, from, func(ctx context.Context, conn *pgx.Conn) error {
			return conn.QueryRow(ctx, query, args...).Scan(fields...)
		})
	}
	prepared, err := s.prepared(ctx, query)
	if err != nil {
		return translate(err)
	}
	return translate(prepared.QueryRowContext(ctx, args...).Scan(fields...))
}

// queryRows runs one of the statements of queries.go on the primary, scans each row into fields and calls read after it.
func (s *Store) queryRows(ctx context.Context, query string, fields []any, read func() error, args ...any) error {
	if s.file == nil {
		return s.onPostgres(ctx, fromPrimary, func(ctx context.Context, conn *pgx.Conn) error {
			return queryPostgresRows(ctx, conn, query, fields, read, args...)
		})
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

func queryPostgresRows(ctx context.Context, conn *pgx.Conn, query string, fields []any, read func() error, args ...any) error {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return scanRows(rows, fields, read)
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

// onPostgres runs a read on a connection of a replica, if one may answer and is fresh, or else of the primary, and
// translates the error. The time that is left is shared out between the fresh replicas and the primary: one that does not answer in its
// share is not asked again before the watcher has seen it answer, and the next is asked instead. When one is fresh again while the
// primary is silent, it is asked in place of that.
func (s *Store) onPostgres(ctx context.Context, from source, read func(context.Context, *pgx.Conn) error) error {
	if from == fromPrimary || len(s.replicas.all) == 0 {
		return lendConn(ctx, s.sql.DB, read)
	}
	for {
		for range s.replicas.all {
			replica, fresh := s.replicas.pick()
			if replica == nil {
				break
			}
			err := onReplica(ctx, replica, fresh, read)
			if !fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
				return err
			}
			replica.freshUntil.Store(nil)
		}
		calledBack, err := s.onPrimaryUntilFresh(ctx, read)
		if !calledBack || !fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
			return err
		}
	}
}

// onPrimaryUntilFresh runs a read on the primary, and reports whether it was called back for a replica.
func (s *Store) onPrimaryUntilFresh(ctx context.Context, read func(context.Context, *pgx.Conn) error) (calledBack bool, err error) {
	waiting, end := s.replicas.untilFresh(ctx)
	defer end()
	err = lendConn(waiting, s.sql.DB, read)
	return errors.Is(context.Cause(waiting), errFresh), err
}

var errLost = errors.New("the replica has less than it had")

// onReplica runs a read on one of so many replicas that may be asked.
func onReplica(ctx context.Context, replica *replica, fresh int, read func(context.Context, *pgx.Conn) error) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(fresh+1))
		defer cancel()
	}
	lost := replica.lost.Load()
	return lendConn(ctx, replica.db, func(ctx context.Context, conn *pgx.Conn) error {
		if replica.lost.Load() != lost {
			return unavailable(errLost)
		}
		return read(ctx, conn)
	})
}

// lendConn takes a connection from a pool, as pgx knows it, and translates the error.
func lendConn(ctx context.Context, db *sql.DB, use func(context.Context, *pgx.Conn) error) error {
	pooled, err := db.Conn(ctx)
	if err != nil {
		return translate(err)
	}
	defer pooled.Close() //nolint:errcheck // it goes back to the pool, which looks whether it is alive
	return translate(pooled.Raw(func(conn any) error {
		return use(ctx, conn.(*stdlib.Conn).Conn()) //nolint:forcetypeassert // the pool was opened with pgx's driver
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
