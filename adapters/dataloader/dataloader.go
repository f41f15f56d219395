// Package dataloader decorates the hottest reads of a store on PostgreSQL: users by name or id, tokens by hash, pastes by id, short
// lists of an owner's ids, and the count of pastes. It merges concurrent lookups into one statement, because under load PostgreSQL
// spends more on a statement than on a row. Nothing is cached.
package dataloader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Dataloader reads from one database. Build it with New.
type Dataloader struct {
	pool        *pgxpool.Pool
	translate   func(error) error
	notFound    error
	connections int
	slots       int // connections for each kind of read
}

// New returns a dataloader over a pool. Each kind of read may use a quarter of it, and accounts an eighth. A lock on pastes can block
// the quarter for pastes, the eighth for accounts, and the store's half: users and tokens keep an eighth. translate turns an error of
// pgx or of a context into a *fault.Error; pgx.ErrNoRows means that nothing was found.
func New(pool *pgxpool.Pool, translate func(error) error) *Dataloader {
	connections := int(pool.Config().MaxConns)
	return &Dataloader{
		pool: pool, translate: translate, notFound: translate(pgx.ErrNoRows), connections: connections, slots: max(1, connections/4),
	}
}

// query finds values by keys.
type query[K, V any] struct {
	one    string              // the statement for one key
	many   string              // the statement for several keys, with an array for each argument
	values func(K) []string    // the arguments for one key
	newRow func() scannable[V] // a buffer for the rows
}

// scannable is a row of an answer.
type scannable[V any] interface {
	fields() []any // to scan the columns to, except the first one, the number of the key
	addTo(answer *V) error
}

// statements returns the statements for one key and for several, with the tables of from joined to the keys q, whose columns are names.
// Their first column is the number of the key, from 1.
//
// Subqueries hide the lengths of the arrays from the planner. If it knew them, it would plan each execution anew, which costs more
// than running it.
func statements(columns, from string, names ...string) (one, many string) {
	var values, arrays []string
	for i, name := range names {
		values = append(values, fmt.Sprintf("$%d::text AS %s", i+1, name))
		arrays = append(arrays, fmt.Sprintf("(SELECT $%d::text[])", i+1))
	}
	one = "SELECT 1::bigint, " + columns + " FROM (SELECT " + strings.Join(values, ", ") + ") q " + from
	many = "SELECT q.n, " + columns + " FROM unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY q (" +
		strings.Join(names, ", ") + ", n) " + from
	return one, many
}

func newLoader[K, V any](d *Dataloader, slots int, q query[K, V]) *loader[K, V] {
	return &loader[K, V]{
		slots: slots, largest: maxBatch, fail: d.translate,
		load: func(ctx context.Context, keys []K) ([]result[V], error) {
			found, err := load(ctx, d, q, keys)
			if err != nil {
				return nil, d.translate(err)
			}
			return found, nil
		},
	}
}

func load[K, V any](ctx context.Context, d *Dataloader, q query[K, V], keys []K) ([]result[V], error) {
	found := make([]result[V], len(keys))
	for i := range found {
		found[i].err = d.notFound
	}
	first := q.values(keys[0])
	statement, arguments := q.one, make([]any, len(first))
	for i, value := range first {
		arguments[i] = value
	}
	if len(keys) > 1 {
		statement = q.many
		columns := make([][]string, len(first)) // typed: without statements prepared, pgx must know what it sends
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
		return nil, err
	}
	defer rows.Close()
	var (
		place  int64
		row    = q.newRow()
		fields = append([]any{&place}, row.fields()...)
	)
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return nil, err
		}
		answer := &found[place-1]
		if err := row.addTo(&answer.value); err != nil || errors.Is(answer.err, d.notFound) {
			answer.err = err
		}
	}
	return found, rows.Err()
}
