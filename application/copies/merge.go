package copies

import (
	"context"
	"errors"
)

// table brings one table of the target into line with the source: it walks both in the order of their keys, as one merges two
// sorted lists, and writes what differs.
//
// A value that no two rows share may have moved from one row to another. So where there are such values, a first walk removes
// the rows of the target that hold one which the source does not give them: after that none is in the way of another.
// What refers to those rows goes with them, and comes back when its own table is walked, later.
func (c *Copy) table(ctx context.Context, run run, rows Snapshot, table Table, compared *Comparison) error {
	count, err := rows.Count(ctx, table)
	if err != nil {
		return err
	}
	if len(table.Unique) > 0 {
		if err := c.merge(ctx, run, rows, table, clearing{compared}, c.report(table.Name+", clearing", count)); err != nil {
			return err
		}
	}
	sum := newSumming()
	if err := c.merge(ctx, run, rows, table, filling{compared, sum}, c.report(table.Name, count)); err != nil {
		return err
	}
	compared.Source = sum.sum()
	return nil
}

// walk says what to do about a row. One of the two may be nil.
type walk interface {
	// needsSource reports whether to go on when the target has no more rows.
	needsSource() bool
	decide(table Table, row Row, stored *Mark, changes *Changes)
}

type clearing struct{ compared *Comparison }

func (clearing) needsSource() bool { return false }

func (w clearing) decide(table Table, row Row, stored *Mark, changes *Changes) {
	if stored != nil && (row == nil || NewMark(table, row).Unique != stored.Unique) {
		changes.Removed = append(changes.Removed, stored.Key)
		w.compared.Removed++
	}
}

type filling struct {
	compared *Comparison
	sum      *summing
}

func (filling) needsSource() bool { return true }

func (w filling) decide(table Table, row Row, stored *Mark, changes *Changes) {
	if row != nil {
		w.sum.add(row)
	}
	switch {
	case stored == nil:
		changes.Added = append(changes.Added, row)
		w.compared.Added++
	case row == nil:
		changes.Removed = append(changes.Removed, stored.Key)
		w.compared.Removed++
	case NewMark(table, row).Row != stored.Row:
		changes.Changed = append(changes.Changed, row)
		w.compared.Changed++
	}
}

var errEnough = errors.New("the rest of the source does not matter")

// merge walks a table of both sides. One goroutine reads and another writes, so that the two databases work at the same time;
// a writer that is slower makes the reader wait.
func (c *Copy) merge(
	ctx context.Context, run run, rows Snapshot, table Table, how walk, report func(int64),
) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches, written := make(chan Changes), make(chan struct{})
	go func() {
		defer close(written)
		for changes := range batches {
			if err := c.target.Write(ctx, run.name, table, changes); err != nil {
				cancel(err)
				return
			}
		}
	}()
	defer func() {
		close(batches)
		<-written
		if cause := context.Cause(ctx); cause != nil {
			err = cause // what reading made of it does not matter
		}
	}()
	var (
		changes Changes
		bytes   int
		stored  = &marks{target: c.target, table: table}
	)
	send := func() error {
		select {
		case batches <- changes:
			changes, bytes = Changes{}, 0
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	decide := func(row Row, mark *Mark) error {
		before := changes.len()
		how.decide(table, row, mark, &changes)
		if run.fresh && len(changes.Changed)+len(changes.Removed) > 0 {
			return ErrInUse
		}
		if changes.len() == before {
			return nil
		}
		if bytes += row.size(); changes.len() < batchRows && bytes < batchBytes {
			return nil
		}
		return send()
	}
	if !how.needsSource() {
		if mark, err := stored.first(ctx); err != nil || mark == nil {
			return err
		}
	}
	err = rows.Each(ctx, table, func(row Row) error {
		report(1)
		key := Key(row[:table.Key:table.Key])
		for {
			mark, err := stored.first(ctx)
			if err != nil {
				return err
			}
			order := -1
			if mark != nil {
				order = key.Compare(mark.Key)
			} else if !how.needsSource() {
				return errEnough
			}
			if order < 0 {
				return decide(row, nil)
			}
			stored.drop()
			if order == 0 {
				return decide(row, mark)
			}
			if err := decide(nil, mark); err != nil {
				return err
			}
		}
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for {
		mark, err := stored.first(ctx)
		if err != nil {
			return err
		}
		if mark == nil {
			break
		}
		stored.drop()
		if err := decide(nil, mark); err != nil {
			return err
		}
	}
	report(0)
	if changes.len() == 0 {
		return nil
	}
	return send()
}

// marks reads those of a table of the target, a page at a time. What is written meanwhile has keys before those to come.
type marks struct {
	target Target
	table  Table
	page   []Mark
	last   Key
	end    bool
}

// first returns the next mark, or nil when there are no more.
func (m *marks) first(ctx context.Context) (*Mark, error) {
	if len(m.page) == 0 && !m.end {
		page, err := m.target.After(ctx, m.table, m.last, markRows)
		if err != nil {
			return nil, err
		}
		if m.page, m.end = page, len(page) < markRows; len(page) > 0 {
			m.last = page[len(page)-1].Key
		}
	}
	if len(m.page) == 0 {
		return nil, nil //nolint:nilnil // as it says
	}
	return &m.page[0], nil
}

func (m *marks) drop() { m.page = m.page[1:] }
