package copies

import (
	"context"
	"errors"
	"fmt"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/trace"
)

// Bounds of what is written in one transaction, and of what is held in memory: three times that, at most.
const (
	batchRows  = 10_000
	batchBytes = 1 << 20
	markRows   = 4_000
)

// Refusals.
var (
	ErrNotEmpty = fault.New(fault.Conflict, "The target is not empty. Name an empty one, or, if an earlier copy to it was begun, "+
		"add --resume to bring it into line with the source.")
	ErrNoCopy = fault.New(fault.Conflict, "The target is not empty, and what is in it is no copy: nothing was changed.")
	ErrUsed   = fault.New(fault.Conflict, "The target was written to since it was copied, which bringing it into line with the source "+
		"would undo: nothing was changed.")
	// ErrInUse is for a target that was empty when the copy began: nobody has copied the rows that are in its way.
	ErrInUse = fault.New(fault.Conflict, "Something else has written to the target while it was copied to, which going on would undo. "+
		"Stop the server that has it open.")
	ErrPartial = fault.New(fault.Conflict, "The source is itself a copy that has not ended. Run that copy again with --resume first.")
	errTables  = fault.Unforeseen(errors.New("source and target do not have the same tables"))
)

// Copy is the use case that copies a store.
type Copy struct {
	source   Source
	target   Target
	progress func(Progress)
}

// New returns the use case. progress is called now and then, by one goroutine at a time; it may be nil.
func New(source Source, target Target, progress func(Progress)) *Copy {
	if progress == nil {
		progress = func(Progress) {}
	}
	return &Copy{source, target, progress}
}

// Progress is how far a copy is.
type Progress struct {
	Phase string // a few words, with the table
	Rows  int64  // of this phase
	Of    int64  // about how many there will be; 0: that is not known
}

// Do copies everything that the source holds at one instant after Do was called, and reads it back. It returns what both sides
// hold, for every table, also when that differs; to find that out is the caller's.
//
// The target has to be empty. With resume it may also hold what an earlier call has copied: then rows that the source has
// changed since are changed, and those that it has removed are removed. A call that was interrupted is completed by one
// that resumes. What was written to a target after a copy to it has ended is never undone.
func (c *Copy) Do(ctx context.Context, resume bool) (_ []Comparison, err error) {
	ctx, end := trace.Start(ctx, "copies.Copy")
	defer func() { end(err) }()
	if memory, err := c.source.Copied(ctx); err != nil {
		return nil, fmt.Errorf("read the source: %w", err)
	} else if memory.Begun && !memory.Ended {
		return nil, ErrPartial
	}
	tables := c.source.Tables()
	if !sameTables(tables, c.target.Tables()) {
		return nil, errTables
	}
	empty, err := c.admit(ctx, tables, resume)
	if err != nil {
		return nil, err
	}
	this := run{ident.New() + ident.New(), empty}
	if err := c.target.Begin(ctx, this.name); err != nil {
		return nil, fmt.Errorf("prepare the target: %w", err)
	}
	compared := make([]Comparison, len(tables))
	err = c.source.Snapshot(ctx, func(rows Snapshot) error {
		for i, table := range tables {
			compared[i].Table = table.Name
			if err := c.table(ctx, this, rows, table, &compared[i]); err != nil {
				return fmt.Errorf("copy %s: %w", table.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	stored, err := c.sums(ctx, tables, "reading back")
	if err != nil {
		return nil, err
	}
	equal := true
	for i, table := range tables {
		compared[i].Target = stored[table.Name]
		equal = equal && compared[i].Equal()
	}
	if !equal {
		return compared, nil
	}
	return compared, c.target.End(ctx, this.name, total(tables, stored))
}

// run is one that copies.
type run struct {
	name  string
	fresh bool // the target was empty: whatever else is in it by now is somebody else's
}

func sameTables(a, b []Table) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || len(a[i].Columns) != len(b[i].Columns) {
			return false
		}
	}
	return true
}

// admit reports whether the target is empty, and fails when it holds what must not be changed.
func (c *Copy) admit(ctx context.Context, tables []Table, resume bool) (empty bool, err error) {
	empty = true
	for _, table := range tables {
		first, err := c.target.After(ctx, table, nil, 1)
		if err != nil {
			return false, fmt.Errorf("read the target: %w", err)
		}
		empty = empty && len(first) == 0
	}
	if empty {
		return true, nil
	}
	if !resume {
		return false, ErrNotEmpty
	}
	memory, err := c.target.Copied(ctx)
	switch {
	case err != nil:
		return false, fmt.Errorf("read the target: %w", err)
	case !memory.Begun:
		return false, ErrNoCopy
	case !memory.Ended:
		return false, nil
	}
	sums, err := c.sums(ctx, tables, "is the target as it was copied")
	if err != nil {
		return false, err
	}
	if total(tables, sums) != memory.Sum {
		return false, ErrUsed
	}
	return false, nil
}

// sums reads the target.
func (c *Copy) sums(ctx context.Context, tables []Table, phase string) (map[string]Sum, error) {
	sums := make(map[string]Sum, len(tables))
	err := c.target.Snapshot(ctx, func(rows Snapshot) error {
		for _, table := range tables {
			count, err := rows.Count(ctx, table)
			if err != nil {
				return err
			}
			sum, report := newSumming(), c.report(table.Name+", "+phase, count)
			err = rows.Each(ctx, table, func(row Row) error {
				sum.add(row)
				report(1)
				return nil
			})
			if err != nil {
				return err
			}
			report(0)
			sums[table.Name] = sum.sum()
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the target: %w", err)
	}
	return sums, nil
}

// report reports that a phase begins, and returns a function that counts rows and reports each of them, or every so many if there
// are many; and when it is called with 0.
func (c *Copy) report(phase string, of int64) func(rows int64) {
	const every = 1000
	progress := Progress{Phase: phase, Of: of}
	c.progress(progress)
	return func(rows int64) {
		if progress.Rows += rows; rows == 0 || of < 100*every || progress.Rows%every == 0 {
			c.progress(progress)
		}
	}
}
