package contract

import (
	"errors"
	"reflect"
	"testing"

	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/fault"
)

// RunCopies runs every suite about copying, each behaviour on an empty target of its own.
func RunCopies(t *testing.T, open func(t *testing.T) copies.Target) {
	t.Helper()
	for name, behaviour := range map[string]func(*testing.T, copies.Target){
		"rows come back as they were, in order": copiedRows,
		"a snapshot stays as it is":             copiedSnapshot,
		"all changes or none":                   copiedAtOnce,
		"one run writes, and it is remembered":  copiedRuns,
		"a cancelled context":                   copiedCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behaviour(t, open(t))
		})
	}
}

func tableOf(t *testing.T, target copies.Target, name string) copies.Table {
	t.Helper()
	for _, table := range target.Tables() {
		if table.Name == name {
			return table
		}
	}
	t.Fatalf("got no table %s, want one", name)
	return copies.Table{}
}

func pasteOf(id string) copies.Row { return copies.Row{id, nil, now.UTC(), nil, int64(0)} }

func storedRows(t *testing.T, target copies.Target, table copies.Table) (rows []copies.Row) {
	t.Helper()
	must(t, target.Snapshot(t.Context(), func(s copies.Snapshot) error {
		must(t, s.Each(t.Context(), table, func(row copies.Row) error {
			rows = append(rows, row)
			return nil
		}))
		count, err := s.Count(t.Context(), table)
		want(t, "the count", count, int64(len(rows)))
		return err
	}))
	return rows
}

func copiedRows(t *testing.T, target copies.Target) {
	pastes, contents, edits := tableOf(t, target, "pastes"), tableOf(t, target, "paste_contents"), tableOf(t, target, "paste_edits")
	must(t, target.Begin(t.Context(), "a"))
	for _, c := range []struct {
		table copies.Table
		rows  []copies.Row // in order
	}{
		{pastes, []copies.Row{
			pasteOf("A"), pasteOf("Z"), pasteOf("_"), {"a", nil, now.UTC(), later.UTC().Truncate(1e6), int64(2)}, pasteOf("ä"),
		}},
		{contents, []copies.Row{{"Z", "never", []byte("\x00\xff"), int64(9), int64(3), int64(1 << 40)}}},
		{edits, []copies.Row{{"Z", int64(9), []byte{0}}, {"Z", int64(10), []byte{1}}, {"Z", int64(100), []byte{2}}}},
	} {
		first := len(c.rows) / 2
		must(t, target.Write(t.Context(), "a", c.table, copies.Changes{Added: c.rows[first:]}))
		must(t, target.Write(t.Context(), "a", c.table, copies.Changes{Added: c.rows[:first]}))
		if got := storedRows(t, target, c.table); !reflect.DeepEqual(got, c.rows) {
			t.Errorf("%s: got %v, want %v", c.table.Name, got, c.rows)
		}
		var last copies.Key
		for i, row := range c.rows {
			marks, err := target.After(t.Context(), c.table, last, 1)
			must(t, err)
			if wanted := copies.NewMark(c.table, row); len(marks) != 1 || !reflect.DeepEqual(marks[0], wanted) {
				t.Fatalf("%s, row %d: got %v, want %v", c.table.Name, i, marks, wanted)
			}
			last = marks[0].Key
		}
		marks, err := target.After(t.Context(), c.table, last, 1)
		must(t, err)
		want(t, "marks after the last", len(marks), 0)
	}
}

func copiedSnapshot(t *testing.T, target copies.Target) {
	pastes := tableOf(t, target, "pastes")
	must(t, target.Begin(t.Context(), "a"))
	must(t, target.Write(t.Context(), "a", pastes, copies.Changes{Added: []copies.Row{pasteOf("a")}}))
	must(t, target.Snapshot(t.Context(), func(s copies.Snapshot) error {
		before, err := s.Count(t.Context(), pastes)
		must(t, err)
		must(t, target.Write(t.Context(), "a", pastes, copies.Changes{Added: []copies.Row{pasteOf("b")}}))
		after, err := s.Count(t.Context(), pastes)
		want(t, "rows", [2]int64{before, after}, [2]int64{1, 1})
		return err
	}))
	want(t, "rows afterwards", len(storedRows(t, target, pastes)), 2)
	errVisitor := errors.New("the visitor's")
	err := target.Snapshot(t.Context(), func(s copies.Snapshot) error {
		return s.Each(t.Context(), pastes, func(copies.Row) error { return errVisitor })
	})
	want(t, "the error", err, errVisitor)
}

func copiedAtOnce(t *testing.T, target copies.Target) {
	pastes := tableOf(t, target, "pastes")
	must(t, target.Begin(t.Context(), "a"))
	must(t, target.Write(t.Context(), "a", pastes, copies.Changes{Added: []copies.Row{pasteOf("a"), pasteOf("b"), pasteOf("c")}}))
	err := target.Write(t.Context(), "a", pastes, copies.Changes{
		Removed: []copies.Key{{"b"}}, Added: []copies.Row{pasteOf("d"), pasteOf("c")},
	})
	wantKind(t, err, fault.Conflict)
	want(t, "rows", len(storedRows(t, target, pastes)), 3)
	changed := copies.Row{"a", nil, now.UTC(), nil, int64(2)}
	must(t, target.Write(t.Context(), "a", pastes, copies.Changes{
		Removed: []copies.Key{{"b"}}, Changed: []copies.Row{changed}, Added: []copies.Row{pasteOf("d")},
	}))
	if got, wanted := storedRows(t, target, pastes), []copies.Row{changed, pasteOf("c"), pasteOf("d")}; !reflect.DeepEqual(got, wanted) {
		t.Errorf("got %v, want %v", got, wanted)
	}
}

func copiedRuns(t *testing.T, target copies.Target) {
	pastes := tableOf(t, target, "pastes")
	remembered := func(wanted copies.Memory) {
		t.Helper()
		memory, err := target.Copied(t.Context())
		must(t, err)
		want(t, "the memory", memory, wanted)
	}
	remembered(copies.Memory{})
	must(t, target.Begin(t.Context(), "a"))
	remembered(copies.Memory{Begun: true})
	must(t, target.Begin(t.Context(), "b"))
	wantKind(t, target.Write(t.Context(), "a", pastes, copies.Changes{Added: []copies.Row{pasteOf("a")}}), fault.Conflict)
	wantKind(t, target.End(t.Context(), "a", "sum"), fault.Conflict)
	remembered(copies.Memory{Begun: true})
	must(t, target.Write(t.Context(), "b", pastes, copies.Changes{Added: []copies.Row{pasteOf("b")}}))
	must(t, target.End(t.Context(), "b", "sum"))
	remembered(copies.Memory{Begun: true, Ended: true, Sum: "sum"})
	must(t, target.Begin(t.Context(), "c"))
	remembered(copies.Memory{Begun: true})
	want(t, "rows", len(storedRows(t, target, pastes)), 1)
}

func copiedCancelled(t *testing.T, target copies.Target) {
	pastes, gone := tableOf(t, target, "pastes"), cancelled(t)
	must(t, target.Begin(t.Context(), "a"))
	wantKind(t, target.Begin(gone, "b"), fault.Unavailable)
	wantKind(t, target.Write(gone, "a", pastes, copies.Changes{Added: []copies.Row{pasteOf("a")}}), fault.Unavailable)
	wantKind(t, target.End(gone, "a", "sum"), fault.Unavailable)
	_, err := target.Copied(gone)
	wantKind(t, err, fault.Unavailable)
	_, err = target.After(gone, pastes, nil, 1)
	wantKind(t, err, fault.Unavailable)
	wantKind(t, target.Snapshot(gone, func(copies.Snapshot) error { return nil }), fault.Unavailable)
	want(t, "rows", len(storedRows(t, target, pastes)), 0)
}
