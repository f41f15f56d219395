// Package copies copies everything that one store keeps to another, or brings an earlier copy into line with its source.
package copies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// Source is a store that is copied.
type Source interface {
	// Tables returns the tables to copy, those that others refer to first.
	Tables() []Table
	// Copied returns what the store remembers of copies to it.
	Copied(ctx context.Context) (Memory, error)
	// Snapshot calls read with the rows of one instant, which stay what they are whatever others write meanwhile. It keeps
	// nobody from writing. What read gets must not be used after it has returned.
	Snapshot(ctx context.Context, read func(Snapshot) error) error
}

// Snapshot is the rows of one instant.
type Snapshot interface {
	// Count returns how many rows a table has.
	Count(ctx context.Context, table Table) (int64, error)
	// Each calls visit with each row of a table in the order of their keys, until it fails. The row is the visitor's.
	Each(ctx context.Context, table Table, visit func(Row) error) error
}

// Target is a store that rows are copied to. It remembers, apart from the tables, that a copy was begun, and which run of
// it was the last: only that may write, so that two runs do not mix.
type Target interface {
	Source
	// Begin makes run the one that may write, and the copy one that has not ended.
	Begin(ctx context.Context, run string) error
	// After returns the marks of the first rows of a table whose keys come after a key, in their order; limit of them, or
	// fewer when there are no more. A nil key comes before all.
	After(ctx context.Context, table Table, key Key, limit int) ([]Mark, error)
	// Write stores changes to one table: all of them or none. What refers to a row that goes, goes with it.
	// It fails with fault.Conflict when another run has begun.
	Write(ctx context.Context, run string, table Table, changes Changes) error
	// End remembers that the copy has ended, and the sum of what was copied. It fails with fault.Conflict when another
	// run has begun.
	End(ctx context.Context, run, sum string) error
}

// Memory is what a store knows of earlier copies to it.
type Memory struct {
	Begun bool
	Ended bool
	Sum   string // that End was called with, if it was
}

// Changes are to rows of one table with different keys.
type Changes struct {
	Added   []Row
	Changed []Row
	Removed []Key
}

func (c *Changes) len() int { return len(c.Added) + len(c.Changed) + len(c.Removed) }

// Sum describes all rows of a table.
type Sum struct {
	Rows     int64
	Checksum string // SHA-256 over the canonical form of the rows in the order of their keys, in hexadecimal digits
}

// Comparison is a table of both sides.
type Comparison struct {
	Table                   string
	Added, Changed, Removed int64
	Source, Target          Sum
}

// Equal reports whether both sides hold the same.
func (c Comparison) Equal() bool { return c.Source == c.Target }

// summing adds the rows of a table up.
type summing struct {
	rows   int64
	hash   hash.Hash
	buffer []byte
}

func newSumming() *summing { return &summing{hash: sha256.New()} }

func (s *summing) add(row Row) {
	s.rows++
	s.buffer = canonical(s.buffer[:0], row...)
	s.hash.Write(s.buffer)
	if cap(s.buffer) > batchBytes {
		s.buffer = nil
	}
}

func (s *summing) sum() Sum { return Sum{s.rows, hex.EncodeToString(s.hash.Sum(nil))} }

// total is one sum for all tables.
func total(tables []Table, sums map[string]Sum) string {
	all := sha256.New()
	for _, table := range tables {
		s := sums[table.Name]
		_, _ = fmt.Fprintf(all, "%s %d %s\n", table.Name, s.Rows, s.Checksum) // a hash takes everything
	}
	return hex.EncodeToString(all.Sum(nil))
}
