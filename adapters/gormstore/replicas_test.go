package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
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
	for _, s := range []sighting{
		{"same place", []int64{2, 100}, []int64{2, 100, 1}, true},
		{"behind", []int64{2, 100}, []int64{2, 99, 1}, false},
		{"of a former primary", []int64{2, 100}, []int64{1, 200, 1}, false},
		{"of who leads in its place", []int64{1, 100}, []int64{2, 200, 1}, false},
	} {
		follow(t, []sighting{s})
	}
}

// TestFreshWithoutPrimary has a primary die soon after it was promoted. A replica that followed it receives nothing then, and says the
// timeline of its last restart point, which is that of before: it is read from for as long as what it has may be shown, unless it was
// started anew.
func TestFreshWithoutPrimary(t *testing.T) {
	t.Parallel()
	follow(t, []sighting{
		{"it follows", []int64{2, 100}, []int64{2, 100, 1}, true},
		{"the primary is silent", nil, []int64{1, 100, 1}, true},
		{"and has fallen silent for good", nil, []int64{1, 100, 1}, true},
		{"another leads", []int64{3, 120}, []int64{1, 130, 1}, false},
		{"and is followed", []int64{3, 120}, []int64{3, 130, 1}, true},
		{"it has stopped answering", []int64{3, 120}, nil, false},
		{"and answers again", []int64{3, 120}, []int64{3, 130, 1}, true},
		{"it was made of an older copy", nil, []int64{3, 90, 2}, false},
	})
}

// TestFreshAfterCrash has a process of a replica killed: PostgreSQL ends all others and begins again at the last restart point, without
// being started anew, and lets itself be read from before it is where it was.
func TestFreshAfterCrash(t *testing.T) {
	t.Parallel()
	follow(t, []sighting{
		{"it follows", []int64{2, 100}, []int64{2, 100, 1}, true},
		{"it has less than it had", []int64{2, 110}, []int64{2, 50, 1}, false},
		{"and also without a primary", nil, []int64{2, 60, 1}, false},
		{"it is where it was", []int64{2, 110}, []int64{2, 100, 1}, true},
	})
}

// TestFreshFarAway has a replica to which connecting takes longer than the answer to a question may.
func TestFreshFarAway(t *testing.T) {
	t.Parallel()
	const lag = 500 * time.Millisecond // a fifth of that for a question
	primary, copied := &server{answer: []int64{2, 100}}, &server{answer: []int64{2, 100, 1}, far: 3 * lag / 5}
	primaryDB, copiedDB := sql.OpenDB(primary), sql.OpenDB(copied)
	defer primaryDB.Close() //nolint:errcheck // nothing is pending on it
	r := &replicas{maxLag: lag, connectTimeout: time.Minute, all: []*replica{{db: copiedDB}}}
	r.watch(primaryDB)
	defer r.close()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, fresh := r.pick(); fresh == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("got no fresh replica, want the one")
		}
	}
}

// sighting is what a primary and its replica answer, and whether the replica is read from after that.
type sighting struct {
	name            string
	primary, copied []int64 // see server
	fresh           bool
}

// follow looks at a primary and its replica again and again.
func follow(t *testing.T, sightings []sighting) {
	t.Helper()
	primary, copied := new(server), new(server)
	primaryDB, copiedDB := sql.OpenDB(primary), sql.OpenDB(copied)
	defer primaryDB.Close() //nolint:errcheck // nothing is pending on it
	defer copiedDB.Close()  //nolint:errcheck // nor on this
	r := &replicas{maxLag: time.Minute, all: []*replica{{db: copiedDB}}}
	var known []position
	for _, s := range sightings {
		primary.answer, copied.answer = s.primary, s.copied
		known = r.look(t.Context(), primaryDB, known, time.Second)
		if _, fresh := r.pick(); fresh == 1 != s.fresh {
			t.Errorf("%s: got %d fresh replicas, want one: %v", s.name, fresh, s.fresh)
		}
	}
}

// server answers each question with what it has at that moment: a timeline, a position and, of a replica, when it was started. Without
// that it answers none.
type server struct {
	answer []int64
	far    time.Duration // how long connecting takes
}

func (s *server) Connect(ctx context.Context) (driver.Conn, error) {
	select {
	case <-time.After(s.far):
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) Driver() driver.Driver               { return nil }
func (s *server) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (s *server) Close() error                        { return nil }
func (s *server) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }
func (s *server) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	if s.answer == nil {
		return nil, errors.New("it is silent")
	}
	return &oneRow{values: s.answer}, nil
}

type oneRow struct {
	values []int64
	read   bool
}

func (r *oneRow) Columns() []string { return []string{"timeline", "lsn", "started"}[:len(r.values)] }
func (r *oneRow) Close() error      { return nil }
func (r *oneRow) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	for i, value := range r.values {
		row[i] = value
	}
	return nil
}
