package pastes_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/modules"
)

func TestCountAndSweep(t *testing.T) {
	t.Parallel()
	m := modules.New()
	count := m.Pastes.CountActive
	for i := range 1300 { // more than two batches of the sweeper expire
		life := "never"
		if i >= 100 {
			life = "1h"
		}
		m.CreatePaste(t, "", life)
	}
	wantCount := func(want int64) {
		t.Helper()
		if got, err := count.Do(t.Context()); err != nil || got != want {
			t.Errorf("got %d, %v, want %d", got, err, want)
		}
	}
	wantCount(1300)
	m.Now = m.Now.Add(time.Hour)
	wantCount(100)
	sweep := m.Pastes.Sweep
	m.Now = m.Now.Add(modules.SweepGrace - 1)
	if removed, err := sweep.Do(t.Context()); removed != 0 || err != nil {
		t.Errorf("got %d removed within the grace period, error %v, want none", removed, err)
	}
	m.Now = m.Now.Add(1)
	if removed, err := sweep.Do(t.Context()); removed != 1200 || err != nil {
		t.Errorf("got %d removed, error %v, want 1200", removed, err)
	}
	wantCount(100)
	_, err := m.Pastes.Create.Do(t.Context(), audit.Operator(), "nobody", modules.Draft("x"))
	modules.WantKind(t, "nobody's paste", err, fault.NotFound)
}

// hangingPastes is a database that does not answer.
type hangingPastes struct{ paste.Store }

func (hangingPastes) RemoveExpired(ctx context.Context, _ time.Duration, _ int) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestSweepOfHangingDatabase checks that a sweep has a time limit of its own, since no caller cancels it.
func TestSweepOfHangingDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sweep := pastes.New(hangingPastes{}, nil, pastes.Options{SweepGrace: time.Minute}, time.Now).Sweep
		if removed, err := sweep.Do(context.Background()); removed != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %d removed, error %v, want none and %v", removed, err, context.DeadlineExceeded)
		}
	})
}

// heavyPastes is a store of expired pastes, with the time that removing each takes.
type heavyPastes struct {
	paste.Store

	costs []time.Duration
	holds []time.Duration // how long others waited
}

func (h *heavyPastes) RemoveExpired(ctx context.Context, _ time.Duration, limit int) (int, error) {
	start, n := time.Now(), min(limit, len(h.costs))
	defer func() { h.holds = append(h.holds, time.Since(start)) }()
	for _, cost := range h.costs[:n] {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(cost):
		}
	}
	h.costs = h.costs[n:]
	return n, nil
}

func (*heavyPastes) FinishDeletions(context.Context, int) (int, error) { return 0, nil }

func (*heavyPastes) ForgetClients(context.Context, int) (int, error) { return 0, nil }

func (*heavyPastes) PurgeRemoved(context.Context, time.Duration, int) (int, error) { return 0, nil }

func (*heavyPastes) ForgetOrigins(context.Context, time.Duration, int) (int, error) { return 0, nil }

// TestSweepOfHeavyPastes checks that a sweep makes its batches small where pastes take long, as those with a long
// history do.
func TestSweepOfHeavyPastes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heavy := &heavyPastes{costs: append(slices.Repeat([]time.Duration{50 * time.Microsecond}, 20_000),
			slices.Repeat([]time.Duration{150 * time.Millisecond}, 700)...)}
		sweep := pastes.New(heavy, nil, pastes.Options{}, time.Now).Sweep
		start := time.Now()
		removed, err := sweep.Do(context.Background())
		slices.Sort(heavy.holds)
		longest := heavy.holds[len(heavy.holds)-1]
		t.Logf("%d removed in %v; others waited for up to %v", removed, time.Since(start), longest)
		if removed != 20_700 || err != nil || longest > 10*time.Second {
			t.Errorf("got %d removed, error %v, others waiting for %v, want 20700 and at most 10 s", removed, err, longest)
		}
		if second := heavy.holds[len(heavy.holds)-2]; second > 3*time.Second {
			t.Errorf("got others waiting for %v, want at most one batch above 3 s", second)
		}
	})
}

// expiringPastes is a store of expired pastes.
type expiringPastes struct {
	paste.Store

	count   int
	removal time.Duration // of one

	start time.Time
	busy  time.Duration // removing
}

func (e *expiringPastes) RemoveExpired(_ context.Context, _ time.Duration, limit int) (int, error) {
	n := min(limit, e.count)
	took := time.Duration(n)*e.removal + time.Millisecond
	time.Sleep(took)
	e.busy += took
	e.count -= n
	return n, nil
}

func (*expiringPastes) FinishDeletions(context.Context, int) (int, error) { return 0, nil }

func (*expiringPastes) ForgetClients(context.Context, int) (int, error) { return 0, nil }

func (*expiringPastes) PurgeRemoved(context.Context, time.Duration, int) (int, error) { return 0, nil }

func (*expiringPastes) ForgetOrigins(context.Context, time.Duration, int) (int, error) { return 0, nil }

// TestSweepLeavesTheDatabaseToOthers checks that a sweep of many pastes rests for half of the time, and is still quick.
func TestSweepLeavesTheDatabaseToOthers(t *testing.T) {
	const expired, most = 300_000, 2 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		expiring := &expiringPastes{count: expired, removal: 150 * time.Microsecond, start: time.Now()}
		sweep := pastes.New(expiring, nil, pastes.Options{}, time.Now).Sweep
		removed, err := sweep.Do(t.Context())
		took := time.Since(expiring.start)
		t.Logf("%d removed in %v, busy for %v", removed, took, expiring.busy)
		if removed != expired || err != nil || took > most || 2*expiring.busy > took+time.Second {
			t.Errorf("got %d removed in %v, busy for %v, error %v, want %d within %v, half of it busy",
				removed, took, expiring.busy, err, expired, most)
		}
	})
}

// TestSweepEndsWhenTold checks that cancelling ends a sweep that rests.
func TestSweepEndsWhenTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		expiring := &expiringPastes{count: 1000, removal: time.Second, start: time.Now()} // 8 s for a batch, and as much rest
		sweep := pastes.New(expiring, nil, pastes.Options{}, time.Now).Sweep
		const soon = 10 * time.Second
		time.AfterFunc(soon, cancel)
		removed, err := sweep.Do(ctx)
		if took := time.Since(expiring.start); removed == 0 || !errors.Is(err, context.Canceled) || took != soon {
			t.Errorf("got %d removed in %v, error %v, want some, and %v after %v", removed, took, err, context.Canceled, soon)
		}
	})
}
