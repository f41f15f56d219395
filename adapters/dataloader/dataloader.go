// Package dataloader decorates the hottest reads of a store on PostgreSQL: users by name or id, tokens by hash, pastes by id, and
// the count of pastes. It reads them with fixed SQL on pgx and merges lookups that wait at the same moment into one statement.
// Nothing is cached: an answer is as fresh as if each lookup had run by itself.
//
// Why it is there: under load PostgreSQL spends more on each statement than on each row.
package dataloader

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Dataloader reads from one database. Build it with New.
type Dataloader struct {
	pool        *pgxpool.Pool
	translate   func(error) error
	notFound    error
	connections int
	slots       int // of them, for each kind of read
}

// New returns a dataloader over a pool. Each kind of read may have a quarter of it, and accounts an eighth. A lock
// on pastes stops the reads of pastes, and the half of the pool that the store uses for them; an eighth is left for
// users and tokens. translate turns an error of pgx, or of a context, into a *fault.Error as the decorated store
// does; pgx.ErrNoRows means that nothing was found.
func New(pool *pgxpool.Pool, translate func(error) error) *Dataloader {
	connections := int(pool.Config().MaxConns)
	return &Dataloader{
		pool: pool, translate: translate, notFound: translate(pgx.ErrNoRows), connections: connections, slots: max(1, connections/4),
	}
}

// query says how values are found by a key of one kind.
type query[K, V any] struct {
	one     string              // the statement for one key
	many    string              // the statement for several keys; their arrays are its arguments
	columns func([]K) []any     // the arrays
	values  func(K) []any       // the same for one key
	newRow  func() scannable[V] // where the rows of either are scanned to, one after another
}

// scannable is a row of an answer.
type scannable[V any] interface {
	fields() []any // where to scan the columns to, in their order, after the first: it says which of the keys the row answers
	addTo(answer *V) error
}

// statements returns the two statements for columns of what from joins to the keys q. Both answer with the place of the key, from 1.
//
// The arrays are in a subquery, which hides their length from the planner. When it knows the length, it takes the plan for
// exactly that length to be the cheapest, and plans anew for each execution, which costs more than running.
func statements(columns, from string, keys ...key) (one, many string) {
	var names, values, arrays []string
	for i, k := range keys {
		number := string(rune('1' + i))
		names = append(names, k.name)
		values = append(values, "$"+number+"::"+k.kind+" AS "+k.name)
		arrays = append(arrays, "(SELECT $"+number+"::"+k.kind+"[])")
	}
	one = "SELECT 1::bigint, " + columns + " FROM (SELECT " + strings.Join(values, ", ") + ") q " + from
	many = "SELECT q.n, " + columns + " FROM unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY q (" +
		strings.Join(names, ", ") + ", n) " + from
	return one, many
}

// key is a column of the keys.
type key struct{ name, kind string }

// newLoader returns what merges such lookups.
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
	var rows pgx.Rows
	var err error
	if len(keys) == 1 {
		rows, err = d.pool.Query(ctx, q.one, q.values(keys[0])...)
	} else {
		rows, err = d.pool.Query(ctx, q.many, q.columns(keys)...)
	}
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

// isText reports whether PostgreSQL takes s for text. A statement for several keys would fail for all of them over one that is not.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// texts returns what PostgreSQL takes for an array of texts.
func texts[K any](keys []K, text func(K) string) []string {
	made := make([]string, len(keys))
	for i, k := range keys {
		made[i] = text(k)
	}
	return made
}
