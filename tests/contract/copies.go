package contract

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// RunCopies runs every suite about copying, each behaviour on an empty target of its own.
func RunCopies(t *testing.T, open func(t *testing.T) copies.Target) {
	t.Helper()
	for name, behaviour := range map[string]func(*testing.T, copies.Target){
		"rows come back as they were, in order": copiedRows,
		"a snapshot stays as it is":             copiedSnapshot,
		"all rows or none":                      copiedAtOnce,
		"one run writes":                        copiedRuns,
		"an interrupted copy starts again":      copiedAgain,
		"what is not empty is not copied to":    copiedNotEmpty,
		"a cancelled context":                   copiedCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behaviour(t, open(t))
		})
	}
}

// RunCopiesBesideWriters is RunCopies for a target that others write to. open also returns one of them.
func RunCopiesBesideWriters(t *testing.T, open func(t *testing.T) (copies.Target, paste.Store)) {
	t.Helper()
	for name, behaviour := range map[string]func(*testing.T, copies.Target, paste.Store){
		"others do not write before it has ended": copiedAlone,
		"several writers as it begins":            copiesMeet,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, other := open(t)
			behaviour(t, target, other)
		})
	}
}

// copiedAlone has another writer refused from the beginning of a copy to its end, also between two runs.
func copiedAlone(t *testing.T, target copies.Target, other paste.Store) {
	create := func(id paste.ID) error { return other.CreateDocument(t.Context(), newDocument(id)) }
	must(t, target.Begin(t.Context(), "s", "a"))
	wantKind(t, create("refused1"), fault.Unavailable)
	must(t, target.Begin(t.Context(), "s", "b"))
	wantKind(t, create("refused2"), fault.Unavailable)
	want(t, "pastes", len(storedRows(t, target, tableOf(t, target, "pastes"))), 0)
	must(t, target.End(t.Context(), "b"))
	must(t, create("stored"))
	want(t, "pastes", len(storedRows(t, target, tableOf(t, target, "pastes"))), 1)
}

// copiesMeet begins a copy beside writers: either one of them was first, and the target is not empty, or all are
// refused.
func copiesMeet(t *testing.T, target copies.Target, other paste.Store) {
	for i := range 20 {
		begun := false
		stored := meet(func(caller int) error {
			if caller > 0 {
				return other.CreateDocument(t.Context(), newDocument(paste.ID(fmt.Sprint("paste", caller))))
			}
			err := target.Begin(t.Context(), "s", fmt.Sprint("run", i))
			if begun = err == nil; errors.Is(err, copies.ErrNotEmpty) {
				return nil
			}
			return err
		})
		acknowledged := 0
		for caller, err := range stored {
			switch {
			case caller == 0:
				must(t, err)
			case err == nil:
				acknowledged++
			default:
				wantKind(t, err, fault.Unavailable)
			}
		}
		if begun != (acknowledged == 0) {
			t.Fatalf("got a copy that begins: %t, and %d pastes that were acknowledged", begun, acknowledged)
		}
		want(t, "pastes", len(storedRows(t, target, tableOf(t, target, "pastes"))), acknowledged)
		if !begun {
			return
		}
		must(t, target.End(t.Context(), fmt.Sprint("run", i)))
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

func pasteOf(id string) copies.Row {
	const none = int64(0)
	return copies.Row{
		id, nil, now.UTC(), nil, false, "never", none, "a title", false, int64(1), none, none, int64(8), none, nil,
		"an origin", nil, false,
		nil, false,
	}
}

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
	pastes, ciphers, edits := tableOf(t, target, "pastes"), tableOf(t, target, "paste_ciphers"),
		tableOf(t, target, "paste_edits")
	must(t, target.Begin(t.Context(), "s", "a"))
	expiring, at := pasteOf("a"), later.UTC().Truncate(1e6)
	expiring[3], expiring[4], expiring[6], expiring[8], expiring[14] = at, true, int64(2), true, []byte("\x00\xff")
	edit := func(position int64) copies.Row {
		return copies.Row{"Z", position, "ä\x1a0", int64(1 << 40), int64(3), `["a"]`, "", at}
	}
	for _, c := range []struct {
		table copies.Table
		rows  []copies.Row // in order
	}{
		{pastes, []copies.Row{pasteOf("A"), pasteOf("Z"), pasteOf("_"), expiring, pasteOf("ä")}},
		{ciphers, []copies.Row{{"Z", int64(0), []byte("\x00\xff"), []byte{}, []byte{0}}}},
		{edits, []copies.Row{edit(9), edit(10), edit(100)}},
	} {
		first := len(c.rows) / 2
		must(t, target.Write(t.Context(), "a", c.table, c.rows[first:]))
		must(t, target.Write(t.Context(), "a", c.table, c.rows[:first]))
		if got := storedRows(t, target, c.table); !reflect.DeepEqual(got, c.rows) {
			t.Errorf("%s: got %v, want %v", c.table.Name, got, c.rows)
		}
	}
}

func copiedSnapshot(t *testing.T, target copies.Target) {
	pastes := tableOf(t, target, "pastes")
	must(t, target.Begin(t.Context(), "s", "a"))
	must(t, target.Write(t.Context(), "a", pastes, []copies.Row{pasteOf("a")}))
	must(t, target.Snapshot(t.Context(), func(s copies.Snapshot) error {
		before, err := s.Count(t.Context(), pastes)
		must(t, err)
		must(t, target.Write(t.Context(), "a", pastes, []copies.Row{pasteOf("b")}))
		after, err := s.Count(t.Context(), pastes)
		want(t, "rows", [2]int64{before, after}, [2]int64{1, 1})
		return err
	}))
	want(t, "rows afterwards", len(storedRows(t, target, pastes)), 2)
	errVisitor := errors.New("the visitor's")
	err := target.Snapshot(t.Context(), func(s copies.Snapshot) error {
		return s.Each(t.Context(), pastes, func(copies.Row) error { return errVisitor })
	})
	if !errors.Is(err, errVisitor) {
		t.Errorf("got %v, want %v", err, errVisitor)
	}
}

func copiedAtOnce(t *testing.T, target copies.Target) {
	pastes := tableOf(t, target, "pastes")
	must(t, target.Begin(t.Context(), "s", "a"))
	must(t, target.Write(t.Context(), "a", pastes, []copies.Row{pasteOf("b")}))
	wantKind(t, target.Write(t.Context(), "a", pastes, []copies.Row{pasteOf("a"), pasteOf("b"), pasteOf("c")}),
		fault.Conflict)
	want(t, "rows", len(storedRows(t, target, pastes)), 1)
}

// wantCopying wants a store to know whether a copy to it has not ended.
func wantCopying(t *testing.T, target copies.Target, expected bool) {
	t.Helper()
	installation, err := target.Installation(t.Context())
	must(t, err)
	want(t, "copying", installation.Copying, expected)
	want(t, "that there is an identity", installation.UID != "", true)
}

func copiedRuns(t *testing.T, target copies.Target) {
	pastes := tableOf(t, target, "pastes")
	wantCopying(t, target, false)
	wantKind(t, target.Write(t.Context(), "", pastes, []copies.Row{pasteOf("a")}), fault.Conflict)
	must(t, target.Begin(t.Context(), "s", "a"))
	must(t, target.Begin(t.Context(), "s", "b"))
	wantKind(t, target.Write(t.Context(), "a", pastes, []copies.Row{pasteOf("a")}), fault.Conflict)
	wantKind(t, target.End(t.Context(), "a"), fault.Conflict)
	wantCopying(t, target, true)
	must(t, target.Write(t.Context(), "b", pastes, []copies.Row{pasteOf("b")}))
	must(t, target.End(t.Context(), "b"))
	wantCopying(t, target, false)
	wantKind(t, target.Write(t.Context(), "b", pastes, []copies.Row{pasteOf("c")}), fault.Conflict)
	wantKind(t, target.End(t.Context(), "b"), fault.Conflict)
	want(t, "rows", len(storedRows(t, target, pastes)), 1)
}

// copiedAgain fills tables, and wants the next run to find none of it.
func copiedAgain(t *testing.T, target copies.Target) {
	must(t, target.Begin(t.Context(), "s", "a"))
	for _, c := range []struct {
		table string
		row   copies.Row
	}{
		{"users", copies.Row{"user0001", "name", "", "Go", true, true, int64(1), false, now.UTC(), false, false,
			false, false}},
		{"pastes", pasteOf("a")},
		{"pasties", copies.Row{"a", int64(0), "pasty001", "", "Go", "package a"}},
		{"tombstones", copies.Row{"paste", "b", now.UTC(), "", "", false}},
	} {
		must(t, target.Write(t.Context(), "a", tableOf(t, target, c.table), []copies.Row{c.row}))
	}
	wantKind(t, target.Begin(t.Context(), "other", "b"), fault.Conflict)
	want(t, "rows of the first run", len(storedRows(t, target, tableOf(t, target, "pastes"))), 1)
	must(t, target.Begin(t.Context(), "s", "b"))
	for _, table := range target.Tables() {
		want(t, "rows of "+table.Name, len(storedRows(t, target, table)), 0)
	}
	wantCopying(t, target, true)
}

func copiedNotEmpty(t *testing.T, target copies.Target) {
	must(t, target.Begin(t.Context(), "s", "a"))
	tombstones := tableOf(t, target, "tombstones")
	must(t, target.Write(t.Context(), "a", tombstones, []copies.Row{{"paste", "a", now.UTC(), "", "", false}}))
	must(t, target.End(t.Context(), "a"))
	if err := target.Begin(t.Context(), "s", "b"); !errors.Is(err, copies.ErrNotEmpty) {
		t.Errorf("got %v, want %v", err, copies.ErrNotEmpty)
	}
	wantCopying(t, target, false)
	want(t, "rows", len(storedRows(t, target, tombstones)), 1)
}

func copiedCancelled(t *testing.T, target copies.Target) {
	pastes, gone := tableOf(t, target, "pastes"), cancelled(t)
	must(t, target.Begin(t.Context(), "s", "a"))
	wantKind(t, target.Begin(gone, "s", "b"), fault.Unavailable)
	wantKind(t, target.Write(gone, "a", pastes, []copies.Row{pasteOf("a")}), fault.Unavailable)
	wantKind(t, target.End(gone, "a"), fault.Unavailable)
	_, err := target.Installation(gone)
	wantKind(t, err, fault.Unavailable)
	wantKind(t, target.Snapshot(gone, func(copies.Snapshot) error { return nil }), fault.Unavailable)
	want(t, "rows", len(storedRows(t, target, pastes)), 0)
}
