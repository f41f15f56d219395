package copies_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/tests/fake"
)

var (
	people = copies.Table{Name: "people", Columns: []string{"id", "name", "age"}, Key: 1}
	things = copies.Table{Name: "things", Columns: []string{"owner", "position", "data", "at"}, Key: 2}
)

// side is one end of a copy.
type side struct {
	*fake.Copies
	failAt int // the number of the write that fails, if not 0
	writes int
	change func(rows []copies.Row) // alters what is written, if set
}

var errPower = errors.New("the power is gone")

func (s *side) Write(ctx context.Context, run string, table copies.Table, rows []copies.Row) error {
	if s.writes++; s.writes == s.failAt {
		return errPower
	}
	if s.change != nil {
		s.change(rows)
	}
	return s.Copies.Write(ctx, run, table, rows)
}

func emptySide(uid string) *side {
	return &side{Copies: fake.NewCopies(uid, []copies.Table{people, things})}
}

// newSide returns a side with that many people and things.
func newSide(t *testing.T, uid string, rows int) *side {
	t.Helper()
	s := emptySide(uid)
	var persons, possessions []copies.Row
	for i := range rows {
		persons = append(persons, copies.Row{fmt.Sprintf("%05d", i), nil, int64(i)})
		possessions = append(possessions, copies.Row{fmt.Sprintf("%05d", i/20), int64(i % 20), []byte{byte(i)},
			time.UnixMicro(int64(i)).UTC()})
	}
	for _, err := range []error{
		s.Begin(t.Context(), "nowhere", "run"), s.Copies.Write(t.Context(), "run", people, persons),
		s.Copies.Write(t.Context(), "run", things, possessions), s.End(t.Context(), "run"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func rowsOf(t *testing.T, s *side) map[string][]copies.Row {
	t.Helper()
	all := map[string][]copies.Row{}
	err := s.Snapshot(t.Context(), func(rows copies.Snapshot) error {
		for _, table := range s.Tables() {
			err := rows.Each(t.Context(), table, func(row copies.Row) error {
				all[table.Name] = append(all[table.Name], row)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantCopying(t *testing.T, s *side, want bool) {
	t.Helper()
	if got, err := s.Installation(t.Context()); err != nil || got.Copying != want {
		t.Errorf("got %+v, error %v, want copying: %v", got, err, want)
	}
}

// TestCopy copies in one batch and in several.
func TestCopy(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 1000, 25_000} {
		source, target := newSide(t, "a", rows), emptySide("b")
		var last copies.Progress
		comparisons, err := copies.New(source, target, func(p copies.Progress) { last = p }).Do(t.Context(), audit.Operator())
		if err != nil {
			t.Fatalf("%d rows: got %v, want no error", rows, err)
		}
		if got, want := rowsOf(t, target), rowsOf(t, source); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d rows: got %v, want %v", rows, got, want)
		}
		for i, name := range []string{"people", "things"} {
			c := comparisons[i]
			if c.Table != name || !c.Equal() || c.Source.Rows != int64(rows) || len(c.Source.Checksum) != 64 {
				t.Errorf("%d rows: got %+v, want as many %s on both sides", rows, c, name)
			}
		}
		if want := (copies.Progress{Phase: "read back things", Rows: int64(rows), Of: int64(rows)}); last != want {
			t.Errorf("got %+v at the end, want %+v", last, want)
		}
		wantCopying(t, target, false)
	}
}

// TestCopyInterrupted makes each write fail once. The next copy starts again, and the last one is complete.
func TestCopyInterrupted(t *testing.T) {
	t.Parallel()
	source, target := newSide(t, "a", 12_000), emptySide("b")
	for failAt := 1; ; failAt++ {
		target.failAt, target.writes = failAt, 0
		_, err := copies.New(source, target, nil).Do(t.Context(), audit.Operator())
		if err == nil {
			if failAt < 4 {
				t.Errorf("got a complete copy after %d failures, want at least 3", failAt-1)
			}
			break
		}
		if !errors.Is(err, errPower) {
			t.Fatalf("got %v, want %v", err, errPower)
		}
		wantCopying(t, target, true)
	}
	if !reflect.DeepEqual(rowsOf(t, target), rowsOf(t, source)) {
		t.Error("got a target that differs from its source, want the same rows")
	}
	wantCopying(t, target, false)
}

// TestCopyFindsDifferences changes a value of each type on its way, one at a time.
func TestCopyFindsDifferences(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(rows []copies.Row){
		"nil":  func(rows []copies.Row) { rows[5][1] = "" },
		"text": func(rows []copies.Row) { rows[9][0] = "00009a" },
		"int":  func(rows []copies.Row) { rows[5][2] = int64(6) },
	} {
		source, target := newSide(t, "a", 10), emptySide("b")
		target.change = func(rows []copies.Row) {
			if len(rows[0]) == len(people.Columns) {
				change(rows)
			}
		}
		comparisons, err := copies.New(source, target, nil).Do(t.Context(), audit.Operator())
		if err != nil || len(comparisons) != 2 || comparisons[0].Equal() || !comparisons[1].Equal() {
			t.Errorf("%s: got %+v, error %v, want people that differ", what, comparisons, err)
		}
		wantCopying(t, target, true)
	}
}

// TestCopyRefuses checks that a copy neither replaces nor mixes the data of its target.
func TestCopyRefuses(t *testing.T) {
	t.Parallel()
	source, other := newSide(t, "a", 10), newSide(t, "b", 5)
	wantRefused := func(from, to *side, want error) {
		t.Helper()
		before := rowsOf(t, to)
		if _, err := copies.New(from, to, nil).Do(t.Context(), audit.Operator()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if !reflect.DeepEqual(rowsOf(t, to), before) {
			t.Error("got a target that was changed, want it unchanged")
		}
	}
	wantRefused(source, other, copies.ErrNotEmpty)
	partial := emptySide("c")
	partial.failAt = 2
	if _, err := copies.New(source, partial, nil).Do(t.Context(), audit.Operator()); !errors.Is(err, errPower) {
		t.Fatalf("got %v, want %v", err, errPower)
	}
	wantRefused(partial, emptySide("d"), copies.ErrPartial)
	before := rowsOf(t, partial)
	if _, err := copies.New(other, partial, nil).Do(t.Context(), audit.Operator()); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v, want a conflict: the target is a copy of another source", err)
	}
	if len(before["people"]) != 10 || !reflect.DeepEqual(rowsOf(t, partial), before) {
		t.Error("got a target that was changed, want it unchanged")
	}
}
