package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"
	"time"
	"unsafe"
)

// TestFreshnessRunsOut puts the clock back by an hour after a replica was last found to be fresh, and wants it not to stay so for as long:
// one that has stopped following would be read from all the while.
func TestFreshnessRunsOut(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(-time.Millisecond)
	// What the wall clock said then is an hour ahead of what it says now. Package time has no way to change that alone.
	*(*uint64)(unsafe.Pointer(&until)) += 3600 << 30
	if ahead := time.Until(until.Round(0)); ahead < 59*time.Minute {
		t.Fatalf("the clock is %v ahead, want an hour", ahead)
	}
	stopped := new(replica)
	stopped.freshUntil.Store(&until)
	r := &replicas{maxLag: time.Second, all: []*replica{stopped}}
	if picked, fresh := r.pick(); picked != nil || fresh != 0 {
		t.Errorf("got %d fresh replicas, want none", fresh)
	}
	now := time.Now().Add(time.Second)
	stopped.freshUntil.Store(&now)
	if picked, fresh := r.pick(); picked != stopped || fresh != 1 {
		t.Errorf("got %d fresh replicas, want the one", fresh)
	}
}

// TestFreshOnOneTimeline has the primary be a former one, which goes on, and the replica follow the one that was promoted in its place:
// it is further in another log, and has nothing of what is written here.
func TestFreshOnOneTimeline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		primary, replica [2]int64 // timeline and position
		fresh            bool
	}{
		"same place":                {[2]int64{2, 100}, [2]int64{2, 100}, true},
		"behind":                    {[2]int64{2, 100}, [2]int64{2, 99}, false},
		"of a former primary":       {[2]int64{2, 100}, [2]int64{1, 200}, false},
		"of who leads in its place": {[2]int64{1, 100}, [2]int64{2, 200}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			primary, copied := sql.OpenDB(standsAt(c.primary)), sql.OpenDB(standsAt(c.replica))
			defer primary.Close() //nolint:errcheck // nothing is pending on it
			defer copied.Close()  //nolint:errcheck // nor on this
			r := &replicas{maxLag: time.Minute, all: []*replica{{db: copied}}}
			r.look(t.Context(), primary, nil, time.Second)
			if _, fresh := r.pick(); fresh == 1 != c.fresh {
				t.Errorf("got %d fresh replicas, want one: %v", fresh, c.fresh)
			}
		})
	}
}

// standsAt is a server that answers each question with a timeline and a position.
type standsAt [2]int64

func (s standsAt) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (s standsAt) Driver() driver.Driver                        { return nil }
func (s standsAt) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (s standsAt) Close() error                                 { return nil }
func (s standsAt) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (s standsAt) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return &oneRow{values: s}, nil
}

type oneRow struct {
	values standsAt
	read   bool
}

func (r *oneRow) Columns() []string { return []string{"timeline", "lsn"} }
func (r *oneRow) Close() error      { return nil }
func (r *oneRow) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	row[0], row[1] = r.values[0], r.values[1]
	return nil
}
