package fake

import (
	"context"
	"slices"

	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/fault"
)

// Copies keeps the rows of tables, for copies from and to it. It is for one caller that reads and one that writes.
type Copies struct {
	List []copies.Table

	*Store
	rows   map[string][]copies.Row // by table, in the order of their keys
	run    string
	memory copies.Memory
}

// NewCopies returns empty tables.
func NewCopies(tables []copies.Table) *Copies {
	return &Copies{List: tables, Store: new(Store), rows: make(map[string][]copies.Row)}
}

var _ copies.Target = (*Copies)(nil)

var errOtherRun = fault.New(fault.Conflict, "Another run has begun.")

func keyOf(table copies.Table, row copies.Row) copies.Key { return copies.Key(row[:table.Key]) }

// find returns where a row with a key is, or belongs.
func (c *Copies) find(table copies.Table, key copies.Key) (int, bool) {
	return slices.BinarySearchFunc(c.rows[table.Name], key, func(row copies.Row, key copies.Key) int {
		return keyOf(table, row).Compare(key)
	})
}

// Tables implements copies.Source.
func (c *Copies) Tables() []copies.Table { return c.List }

// Copied implements copies.Source.
func (c *Copies) Copied(ctx context.Context) (copies.Memory, error) {
	unlock, err := c.lock(ctx)
	if err != nil {
		return copies.Memory{}, err
	}
	defer unlock()
	return c.memory, nil
}

// Snapshot implements copies.Source.
func (c *Copies) Snapshot(ctx context.Context, read func(copies.Snapshot) error) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	rows := make(snapshot, len(c.rows))
	for name, table := range c.rows {
		rows[name] = slices.Clone(table)
	}
	unlock()
	return read(rows)
}

type snapshot map[string][]copies.Row

// Count implements copies.Snapshot.
func (s snapshot) Count(_ context.Context, table copies.Table) (int64, error) {
	return int64(len(s[table.Name])), nil
}

// Each implements copies.Snapshot.
func (s snapshot) Each(ctx context.Context, table copies.Table, visit func(copies.Row) error) error {
	for _, row := range s[table.Name] {
		if ctx.Err() != nil {
			return fault.Wrap(fault.Unavailable, "gone", ctx.Err())
		}
		if err := visit(slices.Clone(row)); err != nil {
			return err
		}
	}
	return nil
}

// Begin implements copies.Target.
func (c *Copies) Begin(ctx context.Context, run string) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c.run, c.memory = run, copies.Memory{Begun: true}
	return nil
}

// After implements copies.Target.
func (c *Copies) After(ctx context.Context, table copies.Table, key copies.Key, limit int) (marks []copies.Mark, err error) {
	unlock, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	from := 0
	if key != nil {
		at, found := c.find(table, key)
		if from = at; found {
			from++
		}
	}
	for _, row := range c.rows[table.Name][from:] {
		if len(marks) == limit {
			break
		}
		marks = append(marks, copies.NewMark(table, row))
	}
	return marks, nil
}

// Write implements copies.Target.
func (c *Copies) Write(ctx context.Context, run string, table copies.Table, changes copies.Changes) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if run != c.run {
		return errOtherRun
	}
	before := slices.Clone(c.rows[table.Name])
	for _, key := range changes.Removed {
		if at, found := c.find(table, key); found {
			c.rows[table.Name] = slices.Delete(c.rows[table.Name], at, at+1)
		}
	}
	for _, row := range changes.Changed {
		if at, found := c.find(table, keyOf(table, row)); found {
			c.rows[table.Name][at] = row
		}
	}
	held := c.held(table)
	for _, row := range changes.Added {
		at, found := c.find(table, keyOf(table, row))
		unique := copies.NewMark(table, row).Unique
		if found || held[unique] {
			c.rows[table.Name] = before
			return errConflict
		}
		held[unique] = len(table.Unique) > 0
		c.rows[table.Name] = slices.Insert(c.rows[table.Name], at, row)
	}
	return nil
}

// held returns the values that only one row may have and one has.
func (c *Copies) held(table copies.Table) map[copies.Digest]bool {
	held := make(map[copies.Digest]bool)
	if len(table.Unique) > 0 {
		for _, row := range c.rows[table.Name] {
			held[copies.NewMark(table, row).Unique] = true
		}
	}
	return held
}

// End implements copies.Target.
func (c *Copies) End(ctx context.Context, run, sum string) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if run != c.run {
		return errOtherRun
	}
	c.memory = copies.Memory{Begun: true, Ended: true, Sum: sum}
	return nil
}
