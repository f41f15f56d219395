// Package copies copies everything that one store keeps to another one, which is empty.
package copies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// Table is a table to copy. Its rows are copied in the order of their keys: texts by their bytes, numbers by their
// values.
type Table struct {
	Name    string
	Columns []string
	Key     int // how many of the first columns are the primary key
}

// Row is the values of a row in the order of its table's columns, each a string, int64, bool, []byte, time.Time (in
// UTC, to the microsecond) or nil.
type Row []any

// Installation is what a store knows about itself.
type Installation struct {
	UID     string // unique to this store
	Copying bool   // it is the target of a copy that has not ended
}

// Source is a store that is copied.
type Source interface {
	// Installation fails with fault.Unavailable.
	Installation(ctx context.Context) (Installation, error)
	// Tables returns the tables to copy, those that others refer to first. They are the same on both sides.
	Tables() []Table
	// Snapshot calls read with a consistent snapshot, while others may write. The snapshot must not be used after read
	// returns.
	Snapshot(ctx context.Context, read func(Snapshot) error) error
}

// Snapshot is the rows of one instant.
type Snapshot interface {
	// Count returns how many rows a table has.
	Count(ctx context.Context, table Table) (int64, error)
	// Each calls visit with each row of a table in the order of their keys, until visit fails. visit may keep the row.
	Each(ctx context.Context, table Table, visit func(Row) error) error
}

// Target is a store that is copied to. A mark names the source and the run until the copy has ended.
type Target interface {
	Source
	// Begin marks an empty store. It empties a store that is marked for the same source: the earlier run was interrupted,
	// or is over now. It fails with ErrNotEmpty, and with fault.Conflict when the mark is for another source.
	Begin(ctx context.Context, source, run string) error
	// Write adds rows to one table: all of them or none. It fails with fault.Conflict when another run has begun.
	Write(ctx context.Context, run string, table Table, rows []Row) error
	// End removes the mark. It fails with fault.Conflict when another run has begun.
	End(ctx context.Context, run string) error
}

// Refusals.
var (
	ErrNotEmpty = fault.New(fault.Conflict, "The target is not empty. Name an empty database.")
	// ErrPartial is the error for a source that is itself an unfinished copy.
	ErrPartial = fault.New(fault.Conflict,
		"The source is the target of an unfinished copy. Run that copy again first.")
)

// Bounds of what is written in one transaction.
const (
	batchRows  = 10_000
	batchBytes = 2 << 20
)

// Sum describes all rows of a table.
type Sum struct {
	Rows     int64
	Checksum string // SHA-256 over the rows as JSON in the order of their keys, in hexadecimal digits
}

// Comparison compares a table of both sides.
type Comparison struct {
	Table          string
	Source, Target Sum
}

// Equal reports whether both sides hold the same.
func (c Comparison) Equal() bool { return c.Source == c.Target }

// Progress is how far a copy has come.
type Progress struct {
	Phase string // a few words, with the table
	Rows  int64  // of this phase
	Of    int64  // how many rows there will be
}

// Copy is the use case that copies a store.
type Copy struct {
	source   Source
	target   Target
	progress func(Progress)
}

// New returns the use case. progress is called now and then; it may be nil.
func New(source Source, target Target, progress func(Progress)) *Copy {
	if progress == nil {
		progress = func(Progress) {}
	}
	return &Copy{source, target, progress}
}

// Do copies a snapshot of the source and reads the target back. It returns the sums of both sides for every table. The
// caller must compare them: if they differ, the copy stays marked as not ended.
//
// When it is interrupted, the target stays marked. Another call with the same source starts again.
//
// It fails with fault.Forbidden unless the actor is the operator.
func (c *Copy) Do(ctx context.Context, actor audit.Actor) ([]Comparison, error) {
	if err := actor.CheckOperator(); err != nil {
		return nil, err
	}
	tables := c.source.Tables()
	from, err := c.source.Installation(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the source: %w", err)
	}
	if from.Copying {
		return nil, ErrPartial
	}
	run := ident.New() + ident.New()
	if err := c.target.Begin(ctx, from.UID, run); err != nil {
		return nil, fmt.Errorf("prepare the target: %w", err)
	}
	sourceSums, err := c.walk(ctx, c.source, "copy", func(table Table, rows []Row) error {
		return c.target.Write(ctx, run, table, rows)
	})
	if err != nil {
		return nil, err
	}
	targetSums, err := c.walk(ctx, c.target, "read back", func(Table, []Row) error { return nil })
	if err != nil {
		return nil, err
	}
	comparisons := make([]Comparison, len(tables))
	for i, table := range tables {
		comparisons[i] = Comparison{table.Name, sourceSums[i], targetSums[i]}
	}
	if !slices.Equal(sourceSums, targetSums) {
		return comparisons, nil
	}
	return comparisons, c.target.End(ctx, run)
}

// walk sums the tables of one side, and passes their rows to write in batches.
func (c *Copy) walk(ctx context.Context, side Source, what string, write func(Table, []Row) error) ([]Sum, error) {
	tables := side.Tables()
	sums := make([]Sum, len(tables))
	err := side.Snapshot(ctx, func(rows Snapshot) (err error) {
		for i, table := range tables {
			if sums[i], err = c.table(ctx, rows, table, what+" "+table.Name, write); err != nil {
				return fmt.Errorf("%s %s: %w", what, table.Name, err)
			}
		}
		return nil
	})
	return sums, err
}

func (c *Copy) table(ctx context.Context, rows Snapshot, table Table, phase string,
	write func(Table, []Row) error) (Sum, error) {
	const every = 1000
	count, err := rows.Count(ctx, table)
	if err != nil {
		return Sum{}, err
	}
	progress, hash := Progress{Phase: phase, Of: count}, sha256.New()
	c.progress(progress)
	var batch []Row
	bytes := 0
	err = rows.Each(ctx, table, func(row Row) error {
		text, err := json.Marshal(row)
		if err != nil {
			return err
		}
		hash.Write(text)
		if progress.Rows++; progress.Rows%every == 0 {
			c.progress(progress)
		}
		batch, bytes = append(batch, row), bytes+len(text)
		if len(batch) < batchRows && bytes < batchBytes {
			return nil
		}
		full := batch
		batch, bytes = nil, 0
		return write(table, full)
	})
	if err == nil && len(batch) > 0 {
		err = write(table, batch)
	}
	c.progress(progress)
	return Sum{progress.Rows, hex.EncodeToString(hash.Sum(nil))}, err
}
