// Package dataloader decorates the hottest reads of a store on PostgreSQL: users by name or id, tokens by hash, pastes
// by id, short lists of an owner's ids, and the count of pastes. It merges concurrent lookups into one statement,
// because under load PostgreSQL spends more on a statement than on a row. Nothing is cached.
package dataloader

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
)

// Dataloader reads from one database. Build it with New.
type Dataloader struct {
	pool        *pgxpool.Pool
	connections int
	slots       int // connections for each kind of read
}

// New returns a dataloader over a store's pool. Each kind of read may use a quarter of it, and accounts an eighth. A
// lock on pastes can block the quarter for pastes, the eighth for accounts, and the store's half: users and tokens keep
// an eighth.
func New(store *db.Store) *Dataloader {
	connections := int(store.Pool().Config().MaxConns)
	return &Dataloader{pool: store.Pool(), connections: connections, slots: max(1, connections/4)}
}

// query finds rows by keys. Its tables are joined to the keys q.
type query[K, R any] struct {
	columns, tables string
	names           []string         // of the columns of q
	values          func(K) []string // those of one key
	fields          func(*R) []any   // to scan the columns to
}

// newLoader returns a loader of the rows of keys, which fails for a key without rows. It returns nil if slots is 0. A
// statement's first column is the number of the key, beginning at 1.
//
// Subqueries hide the lengths of the arrays from the planner. If it knew them, it would plan each execution again,
// which costs more than the execution.
func newLoader[K, R any](d *Dataloader, slots int, q query[K, R]) *loader[K, []R] {
	if slots == 0 {
		return nil
	}
	var values, arrays []string
	for i, name := range q.names {
		values = append(values, fmt.Sprintf("$%d::text AS %s", i+1, name))
		arrays = append(arrays, fmt.Sprintf("(SELECT $%d::text[])", i+1))
	}
	one := "SELECT 1::bigint, " + q.columns + " FROM (SELECT " + strings.Join(values, ", ") + ") q " + q.tables
	many := "SELECT q.n, " + q.columns + " FROM unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY q (" +
		strings.Join(q.names, ", ") + ", n) " + q.tables
	load := func(ctx context.Context, keys []K) ([]result[[]R], error) {
		statement, arguments := one, make([]any, len(q.names))
		if len(keys) == 1 {
			for i, value := range q.values(keys[0]) {
				arguments[i] = value
			}
		} else {
			statement = many
			columns := make([][]string, len(q.names)) // typed for pgx, which may not know the types of the parameters
			for _, key := range keys {
				for i, value := range q.values(key) {
					columns[i] = append(columns[i], value)
				}
			}
			for i, column := range columns {
				arguments[i] = column
			}
		}
		rows, err := d.pool.Query(ctx, statement, arguments...)
		if err != nil {
			return nil, db.Translate(err)
		}
		defer rows.Close()
		results := make([]result[[]R], len(keys))
		for i := range results {
			results[i].err = db.ErrNotFound
		}
		var (
			number int64
			row    R
			fields = append([]any{&number}, q.fields(&row)...)
		)
		for rows.Next() {
			if err := rows.Scan(fields...); err != nil {
				return nil, db.Translate(err)
			}
			results[number-1] = result[[]R]{value: append(results[number-1].value, row)}
		}
		return results, db.Translate(rows.Err())
	}
	return &loader[K, []R]{slots: slots, largest: maxBatch, load: load}
}
