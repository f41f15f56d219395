package dataloader

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// database answers a key with its square, and counts its statements.
type database struct {
	statements, lookups, largest atomic.Int64
	before                       func(ctx context.Context, keys []int) error
}

func (d *database) load(ctx context.Context, keys []int) ([]result[int], error) {
	d.statements.Add(1)
	d.lookups.Add(int64(len(keys)))
	d.largest.Store(max(d.largest.Load(), int64(len(keys))))
	if d.before != nil {
		if err := d.before(ctx, keys); err != nil {
			return nil, err
		}
	}
	results := make([]result[int], len(keys))
	for i, key := range keys {
		results[i].value = key * key
	}
	return results, nil
}

func unavailable(err error) error { return fault.Wrap(fault.Unavailable, "away", err) }

func (d *database) loader(slots int) *loader[int, int] {
	return &loader[int, int]{load: d.load, slots: slots, largest: maxBatch}
}

// sleep takes a second, or as long as a caller waits.
func sleep(ctx context.Context, _ []int) error {
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
}

// caller is somebody who waits for an answer.
type caller struct {
	value int
	err   error
	took  time.Duration
	done  chan struct{}
}

// ask looks a key up in the background and returns once the caller waits or has an answer.
func ask(ctx context.Context, l *loader[int, int], key int) *caller {
	a := &caller{done: make(chan struct{})}
	start := time.Now()
	go func() {
		defer close(a.done)
		a.value, a.err = l.find(ctx, key)
		a.took = time.Since(start)
	}()
	synctest.Wait()
	return a
}

func (a *caller) want(t *testing.T, value int, took time.Duration) {
	t.Helper()
	<-a.done
	if a.value != value || a.err != nil || a.took != took {
		t.Errorf("got %d, error %v after %v, want %d after %v", a.value, a.err, a.took, value, took)
	}
}

func (a *caller) wantKind(t *testing.T, kind fault.Kind) {
	t.Helper()
	<-a.done
	if !fault.Is(a.err, kind) {
		t.Errorf("got %d, error %v, want one of kind %q", a.value, a.err, kind)
	}
}

// wantIdle fails the test unless all slots are free.
func wantIdle(t *testing.T, l *loader[int, int]) {
	t.Helper()
	synctest.Wait()
	if l.inUse != 0 || len(l.waiting) != 0 {
		t.Errorf("got %d slots in use and %d callers waiting, want none", l.inUse, len(l.waiting))
	}
}

func TestMerges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &database{before: sleep}
		l := db.loader(2)
		var all []*caller
		for key := range 200 {
			all = append(all, ask(t.Context(), l, key))
		}
		for key, a := range all {
			// Two by themselves, then 64 and 64, then the other 70 as 64 and 6.
			took := 3 * time.Second
			if key < 2 {
				took = time.Second
			} else if key < 2+2*maxBatch {
				took = 2 * time.Second
			}
			a.want(t, key*key, took)
		}
		wantIdle(t, l)
		if db.statements.Load() != 6 || db.largest.Load() != maxBatch {
			t.Errorf("got %d statements of at most %d keys, want 6 and %d", db.statements.Load(), db.largest.Load(), maxBatch)
		}
	})
}

// TestTrace checks that a statement for several lookups belongs to the trace of one of them.
func TestTrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var traces []any
		db := &database{before: func(ctx context.Context, keys []int) error {
			traces = append(traces, ctx.Value(key{}))
			return sleep(ctx, keys)
		}}
		l := db.loader(1)
		for i, trace := range []string{"first", "second", "third"} {
			ask(context.WithValue(t.Context(), key{}, trace), l, i)
		}
		time.Sleep(time.Minute)
		wantIdle(t, l)
		if want := []any{"first", "second"}; !slices.Equal(traces, want) {
			t.Errorf("got statements of the traces %v, want %v", traces, want)
		}
	})
}

func TestLoneCallerDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &database{}
		l := db.loader(1)
		for key := range 3 {
			ask(t.Context(), l, key).want(t, key*key, 0)
		}
		wantIdle(t, l)
	})
}

// TestLoneWaiter checks that a caller who waits alone gets an answer without further callers.
func TestLoneWaiter(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		load  func(context.Context, []int) error
		first fault.Kind // of the statement that takes the slot
	}{
		"after an answer": {sleep, fault.None},
		"after an error": {func(context.Context, []int) error {
			time.Sleep(time.Second)
			return unavailable(nil)
		}, fault.Unavailable},
		"after a deadline": {func(ctx context.Context, _ []int) error {
			<-ctx.Done()
			return unavailable(ctx.Err())
		}, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := &database{before: func(ctx context.Context, keys []int) error {
					if keys[0] == 0 {
						return end.load(ctx, keys)
					}
					return nil
				}}
				l := db.loader(1)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				first := ask(ctx, l, 0)
				ask(t.Context(), l, 3).want(t, 9, time.Second)
				<-first.done
				if fault.KindOf(first.err) != end.first {
					t.Errorf("got %v, want %q", first.err, end.first)
				}
				wantIdle(t, l)
			})
		})
	}
}

func TestLoneWaiterBehindOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &database{before: sleep}
		l := db.loader(1)
		ctx, leave := context.WithCancel(t.Context())
		ask(t.Context(), l, 0)
		var others []*caller
		for key := range 100 {
			others = append(others, ask(ctx, l, key))
		}
		last := ask(t.Context(), l, 7)
		leave()
		for _, a := range others {
			a.wantKind(t, fault.Unavailable)
		}
		last.want(t, 49, 2*time.Second) // it has not waited for those who left
		wantIdle(t, l)
		if got := db.lookups.Load(); got != 2 {
			t.Errorf("got %d lookups, want the 2 that were waited for", got)
		}
	})
}

// TestHangingStatement checks that a hanging statement blocks only its own slot.
func TestHangingStatement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &database{before: func(ctx context.Context, keys []int) error {
			if keys[0] == 0 {
				<-ctx.Done()
				return unavailable(ctx.Err())
			}
			return sleep(ctx, keys)
		}}
		l := db.loader(2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		stuck := ask(ctx, l, 0)
		for key := 1; key < 5; key++ {
			ask(t.Context(), l, key).want(t, key*key, time.Second)
		}
		stuck.wantKind(t, fault.Unavailable)
		wantIdle(t, l)
	})
}

// TestCallersWhoLeave checks that a merged statement ends at the last deadline of its callers.
func TestCallersWhoLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Duration, 1)
		start := time.Now()
		db := &database{before: func(ctx context.Context, keys []int) error {
			if keys[0] == 0 {
				return sleep(ctx, keys)
			}
			<-ctx.Done()
			ended <- time.Since(start)
			return unavailable(ctx.Err())
		}}
		l := db.loader(1)
		ask(t.Context(), l, 0)
		var waiting []*caller
		for patience := 1; patience <= 3; patience++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(patience)*time.Minute)
			defer cancel()
			waiting = append(waiting, ask(ctx, l, 1))
		}
		for i, a := range waiting {
			a.wantKind(t, fault.Unavailable)
			if a.took != time.Duration(i+1)*time.Minute {
				t.Errorf("caller %d: got an answer after %v, want one at its own deadline", i, a.took)
			}
		}
		if got := <-ended; got != 3*time.Minute {
			t.Errorf("got the end of the statement after %v, want it after 3m, the last deadline of its callers", got)
		}
		wantIdle(t, l)
	})
}

func TestPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &database{before: func(ctx context.Context, keys []int) error {
			if keys[0] == 13 {
				panic("13")
			}
			return sleep(ctx, keys)
		}}
		l := db.loader(1)
		ask(t.Context(), l, 0)
		callers := []*caller{ask(t.Context(), l, 13), ask(t.Context(), l, 1)}
		for _, a := range callers {
			a.wantKind(t, fault.Internal)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a lone caller: got no panic, want one")
				}
			}()
			_, _ = l.find(t.Context(), 13)
		}()
		ask(t.Context(), l, 2).want(t, 4, time.Second)
		wantIdle(t, l)
	})
}

func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &database{before: func(ctx context.Context, keys []int) error {
			return errors.Join(sleep(ctx, keys), unavailable(errors.New("gone")))
		}}
		l := db.loader(2)
		var all []*caller
		for key := range 50 {
			all = append(all, ask(t.Context(), l, key))
		}
		for _, a := range all {
			a.wantKind(t, fault.Unavailable)
		}
		if got := db.statements.Load(); got != 3 {
			t.Errorf("got %d statements during an outage, want 3", got)
		}
		wantIdle(t, l)
	})
}

// TestCallersWhoComeAndGo has callers give up while they are answered. None must get another's answer, and no slot may
// be lost.
func TestCallersWhoComeAndGo(t *testing.T) {
	t.Parallel()
	db := &database{before: func(context.Context, []int) error {
		time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
		return nil
	}}
	l := db.loader(2)
	var callers sync.WaitGroup
	var answers, timeouts atomic.Int64
	for caller := range 32 {
		callers.Go(func() {
			for round := range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(1000))*time.Microsecond)
				key := caller*1000 + round
				switch got, err := l.find(ctx, key); {
				case err != nil:
					timeouts.Add(1)
				case got != key*key:
					t.Errorf("got %d, want %d", got, key*key)
				default:
					answers.Add(1)
				}
				cancel()
			}
		})
	}
	callers.Wait()
	if answers.Load() == 0 || timeouts.Load() == 0 {
		t.Errorf("got %d answers and %d timeouts, want some of both", answers.Load(), timeouts.Load())
	}
	if got, err := l.find(t.Context(), 5); got != 25 || err != nil {
		t.Errorf("afterwards: got %d, error %v, want 25", got, err)
	}
}

// TestCountIsShared checks that callers who come during a count share the next one.
func TestCountIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{}
		d := &Dataloader{slots: 1}
		pastes := d.Pastes(store)
		counts := make(chan int64, 200)
		count := func() {
			got, err := pastes.ActiveCount(t.Context())
			if err != nil {
				t.Error(err)
			}
			counts <- got
		}
		go count()
		synctest.Wait()
		for range 199 {
			go count()
		}
		synctest.Wait()
		if got := <-counts; got != 1 {
			t.Errorf("the first caller: got %d, want 1", got)
		}
		for range 199 {
			if got := <-counts; got != 2 {
				t.Fatalf("a caller during the count: got %d, want 2, the next count", got)
			}
		}
		if got := store.calls.Load(); got != 2 {
			t.Errorf("got %d statements, want 2", got)
		}
	})
}

// countingStore answers with the number of its calls.
type countingStore struct {
	paste.Store

	calls atomic.Int64
}

func (s *countingStore) ActiveCount(context.Context) (int64, error) {
	n := s.calls.Add(1)
	time.Sleep(time.Second)
	return n, nil
}

func BenchmarkLoader(b *testing.B) {
	l := new(database).loader(2)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := l.find(b.Context(), 1); err != nil {
				b.Error(err)
			}
		}
	})
}
