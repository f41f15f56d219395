package application

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/tests/fake"
)

var (
	people = copies.Table{Name: "people", Columns: []string{"id", "name", "age"}, Key: 1, Unique: []int{1}}
	things = copies.Table{Name: "things", Columns: []string{"owner", "position", "data"}, Key: 2}
)

// side is one end of a copy.
type side struct {
	*fake.Copies
	failAt int // the number of the write that fails; 0: none
	writes int
}

var errPower = errors.New("the power is gone")

func (s *side) Write(ctx context.Context, run string, table copies.Table, changes copies.Changes) error {
	if s.writes++; s.writes == s.failAt {
		return errPower
	}
	return s.Copies.Write(ctx, run, table, changes)
}

// newSide returns one with that many random people and things, of which two sides share some and have others for themselves.
func newSide(t *testing.T, random *rand.Rand, rows int) *side {
	t.Helper()
	s := &side{Copies: fake.NewCopies([]copies.Table{people, things})}
	if rows == 0 {
		return s
	}
	names := random.Perm(2 * rows) // names move from one to another
	var persons, possessions []copies.Row
	for i := range 2 * rows {
		if random.IntN(2) > 0 {
			persons = append(persons, copies.Row{fmt.Sprintf("%05d", i), fmt.Sprint("name", names[i]/2*2), int64(random.IntN(2))})
		}
		if random.IntN(2) > 0 {
			possessions = append(possessions, copies.Row{fmt.Sprintf("%05d", i/20), int64(i % 20), []byte{byte(random.IntN(2))}})
		}
	}
	taken := map[any]bool{}
	var unique []copies.Row
	for _, row := range persons {
		if !taken[row[1]] {
			unique = append(unique, row)
		}
		taken[row[1]] = true
	}
	for table, rows := range map[*copies.Table][]copies.Row{&people: unique, &things: possessions} {
		if err := s.Copies.Write(t.Context(), "", *table, copies.Changes{Added: rows}); err != nil {
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

// TestCopyMerges brings random targets into line with random sources, one of them in more than a page.
func TestCopyMerges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		rows := []int{0, 1, 3, 100, 1000}[seed%5]
		if seed == 29 {
			rows = 5000
		}
		source, target := newSide(t, random, rows), newSide(t, random, random.IntN(rows+1))
		if err := target.Begin(t.Context(), "earlier"); err != nil {
			t.Fatal(err)
		}
		var shown copies.Progress
		compared, err := copies.New(source, target, func(p copies.Progress) { shown = p }).Do(t.Context(), true)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got, want := rowsOf(t, target), rowsOf(t, source); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
		for i, name := range []string{"people", "things"} {
			c := compared[i]
			if want := int64(len(rowsOf(t, source)[name])); c.Table != name || !c.Equal() || c.Source.Rows != want {
				t.Errorf("seed %d: got %+v, want %d %s on both sides", seed, c, want, name)
			}
		}
		if shown.Phase != "things, reading back" || shown.Rows != shown.Of {
			t.Errorf("seed %d: got %+v at the end, want all of the last phase", seed, shown)
		}
		// Once more there is nothing to do, and now the copy has ended.
		target.writes = 0
		if _, err := copies.New(source, target, nil).Do(t.Context(), true); err != nil || target.writes != 0 {
			t.Errorf("seed %d: got %d writes, error %v, want none", seed, target.writes, err)
		}
	}
}

// TestCopyInterrupted has every write fail once, and the next copy complete what was begun.
func TestCopyInterrupted(t *testing.T) {
	t.Parallel()
	source := newSide(t, rand.New(rand.NewPCG(7, 7)), 12_000) // several batches
	target := newSide(t, nil, 0)
	for failAt := 1; ; failAt++ {
		target.failAt, target.writes = failAt, 0
		_, err := copies.New(source, target, nil).Do(t.Context(), true)
		if err == nil {
			if failAt < 3 {
				t.Errorf("got an end after %d failures, want several", failAt-1)
			}
			break
		}
		if memory, _ := target.Copied(t.Context()); !errors.Is(err, errPower) || !memory.Begun || memory.Ended {
			t.Fatalf("got %v and %+v, want %v and a copy that has not ended", err, memory, errPower)
		}
	}
	if !reflect.DeepEqual(rowsOf(t, target), rowsOf(t, source)) {
		t.Error("got a target that differs from its source, want the same rows")
	}
}

// TestCopyRefuses what would undo what somebody else has stored.
func TestCopyRefuses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	source, other, empty := newSide(t, random, 10), newSide(t, random, 10), newSide(t, random, 0)
	before := rowsOf(t, other)
	refused := func(from, to *side, resume bool, want error) {
		t.Helper()
		if _, err := copies.New(from, to, nil).Do(t.Context(), resume); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	refused(source, other, false, copies.ErrNotEmpty)
	refused(source, other, true, copies.ErrNoCopy)
	if !reflect.DeepEqual(rowsOf(t, other), before) {
		t.Error("got a target that was changed, want it as it was")
	}
	if _, err := copies.New(source, empty, nil).Do(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := empty.Begin(t.Context(), "served"); err != nil {
		t.Fatal(err)
	}
	refused(empty, newSide(t, random, 0), false, copies.ErrPartial)
	if _, err := copies.New(source, empty, nil).Do(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	memory, err := empty.Copied(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	added := copies.Changes{Added: []copies.Row{{"zzzzz", "somebody new", int64(1)}}}
	for _, write := range []func() error{ // as a server would, which leaves what is remembered alone
		func() error { return empty.Begin(t.Context(), "served") },
		func() error { return empty.Copies.Write(t.Context(), "served", people, added) },
		func() error { return empty.End(t.Context(), "served", memory.Sum) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	refused(source, empty, true, copies.ErrUsed)
	if got := rowsOf(t, empty)["people"]; got[len(got)-1][0] != "zzzzz" {
		t.Errorf("got %v, want what was written since", got)
	}
}
