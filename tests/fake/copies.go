package fake

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/fault"
)

// Copies keeps the rows of tables, as a source or target of copies. It is for one reader and one writer at a time.
type Copies struct {
	List []copies.Table

	*Store
	uid  string
	rows map[string][]copies.Row // by table, in the order of their keys
	mark []string                // the source and the run of an unfinished copy
}

// NewCopies returns empty tables.
func NewCopies(uid string, tables []copies.Table) *Copies {
	return &Copies{List: tables, Store: new(Store), uid: uid, rows: make(map[string][]copies.Row)}
}

var _ copies.Target = (*Copies)(nil)

var errMark = fault.New(fault.Conflict, "Another run has begun.")

// Tables implements copies.Source.
func (c *Copies) Tables() []copies.Table { return c.List }

// Installation implements copies.Source.
func (c *Copies) Installation(ctx context.Context) (copies.Installation, error) {
	unlock, err := c.lock(ctx)
	if err != nil {
		return copies.Installation{}, err
	}
	defer unlock()
	return copies.Installation{UID: c.uid, Copying: c.mark != nil}, nil
}

// Snapshot implements copies.Source.
func (c *Copies) Snapshot(ctx context.Context, read func(copies.Snapshot) error) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	rows := make(copySnapshot, len(c.rows))
	for name, table := range c.rows {
		rows[name] = slices.Clone(table)
	}
	unlock()
	return read(rows)
}

type copySnapshot map[string][]copies.Row

// Count implements copies.Snapshot.
func (s copySnapshot) Count(_ context.Context, table copies.Table) (int64, error) {
	return int64(len(s[table.Name])), nil
}

// Each implements copies.Snapshot.
func (s copySnapshot) Each(ctx context.Context, table copies.Table, visit func(copies.Row) error) error {
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
func (c *Copies) Begin(ctx context.Context, source, run string) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case c.mark == nil && len(c.rows) > 0:
		return copies.ErrNotEmpty
	case c.mark != nil && c.mark[0] != source:
		return errMark
	}
	clear(c.rows)
	c.mark = []string{source, run}
	return nil
}

// Write implements copies.Target.
func (c *Copies) Write(ctx context.Context, run string, table copies.Table, rows []copies.Row) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if c.mark == nil || c.mark[1] != run {
		return errMark
	}
	return c.add(table, rows)
}

func (c *Copies) add(table copies.Table, rows []copies.Row) error {
	merged := slices.Concat(c.rows[table.Name], rows)
	compare := func(a, b copies.Row) int { return compareRows(a[:table.Key], b[:table.Key]) }
	slices.SortFunc(merged, compare)
	for i := 1; i < len(merged); i++ {
		if compare(merged[i-1], merged[i]) == 0 {
			return errConflict
		}
	}
	c.rows[table.Name] = merged
	return nil
}

func compareRows(a, b copies.Row) int {
	for i := range a {
		order := 0
		switch value := a[i].(type) {
		case string:
			order = strings.Compare(value, b[i].(string)) //nolint:forcetypeassert // of the same table
		case int64:
			order = cmp.Compare(value, b[i].(int64)) //nolint:forcetypeassert // of the same table
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// End implements copies.Target.
func (c *Copies) End(ctx context.Context, run string) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if c.mark == nil || c.mark[1] != run {
		return errMark
	}
	c.mark = nil
	return nil
}
