package gormstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// slowDatabase answers a key with its square after a while, and counts.
type slowDatabase struct {
	alone, together, largest atomic.Int64
	fail                     func(keys []int) error
}

func (d *slowDatabase) one(ctx context.Context, key int) (int, error) {
	d.alone.Add(1)
	return key * key, d.wait(ctx, []int{key})
}

func (d *slowDatabase) many(ctx context.Context, keys []int) ([]found[int], error) {
	d.together.Add(1)
	d.largest.Store(max(d.largest.Load(), int64(len(keys))))
	if err := d.wait(ctx, keys); err != nil {
		return nil, err
	}
	answers := make([]found[int], len(keys))
	for i, key := range keys {
		answers[i].value = key * key
	}
	return answers, nil
}

func (d *slowDatabase) wait(ctx context.Context, keys []int) error {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
	if d.fail != nil {
		return d.fail(keys)
	}
	return nil
}

func TestCoalescing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &slowDatabase{}
		c := newCoalescer(2, db.one, db.many)
		if got, err := c.find(t.Context(), 7); got != 49 || err != nil || db.alone.Load() != 1 {
			t.Errorf("%d, %v", got, err)
		}
		started := time.Now()
		var callers sync.WaitGroup
		for key := range 200 {
			callers.Go(func() {
				if got, err := c.find(t.Context(), key); got != key*key || err != nil {
					t.Errorf("%d: %d, %v", key, got, err)
				}
			})
		}
		callers.Wait()
		// One by itself and 64 beside it, then 64 and 64, then the other 7.
		if took := time.Since(started); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		if db.alone.Load() != 2 || db.together.Load() != 4 || db.largest.Load() != maxCoalesced {
			t.Errorf("%d alone, %d together, at most %d", db.alone.Load(), db.together.Load(), db.largest.Load())
		}
		synctest.Wait()
		if len(c.running) != 0 || len(c.waiting) != 0 {
			t.Errorf("%d running, %d waiting", len(c.running), len(c.waiting))
		}
	})
}

func TestCoalescedCallersAreIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &slowDatabase{fail: func(keys []int) error {
			if slices.Contains(keys, 13) {
				return fault.Wrap(fault.Internal, "x", errors.New("the database chokes on 13"))
			}
			return nil
		}}
		c := newCoalescer(2, db.one, db.many)
		impatient, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		gone, leave := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		const answered = "an answer"
		ask := func(ctx context.Context, key int, want string) {
			callers.Go(func() {
				outcome := answered
				if got, err := c.find(ctx, key); err != nil {
					outcome = fault.KindOf(err).String()
				} else if got != key*key {
					outcome = fmt.Sprint("the wrong answer ", got)
				}
				if outcome != want {
					t.Errorf("%d: %s, want %s", key, outcome, want)
				}
			})
			synctest.Wait()
		}
		ask(t.Context(), 0, answered) // this one runs by itself; the others wait for it
		ask(impatient, 100, fault.Unavailable.String())
		ask(gone, 101, fault.Unavailable.String())
		for key := 10; key < 20; key++ {
			want := answered
			if key == 13 {
				want = fault.Internal.String()
			}
			ask(t.Context(), key, want)
		}
		leave()
		callers.Wait()
		if db.together.Load() == 0 {
			t.Error("nothing was asked together")
		}
	})
}

// A statement that hangs, on a connection that nobody answers any more, must not hold up the others.
func TestCoalescerGivesUpWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		one := func(_ context.Context, key int) (int, error) {
			if key == 0 {
				<-hang
			}
			return key, nil
		}
		c := newCoalescer(2, one, func(context.Context, []int) ([]found[int], error) { return nil, errors.New("not needed") })
		var stuck sync.WaitGroup
		stuck.Go(func() { _, _ = c.find(t.Context(), 0) })
		synctest.Wait()
		time.Sleep(coalescePatience)
		for key := 1; key < 10; key++ {
			started := time.Now()
			if got, err := c.find(t.Context(), key); got != key || err != nil || time.Since(started) != 0 {
				t.Errorf("%d: %d, %v after %v", key, got, err, time.Since(started))
			}
		}
		close(hang)
		stuck.Wait()
	})
}

func TestCoalescedPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan struct{})
		one := func(_ context.Context, key int) (int, error) {
			<-begin
			if key == 13 {
				panic("13")
			}
			return key, nil
		}
		c := newCoalescer(1, one, func(context.Context, []int) ([]found[int], error) { panic("many") })
		var callers sync.WaitGroup
		for key := range 20 {
			callers.Go(func() {
				got, err := c.find(t.Context(), key)
				if key == 13 && fault.KindOf(err) != fault.Internal || key != 13 && (got != key || err != nil) {
					t.Errorf("%d: %d, %v", key, got, err)
				}
			})
			synctest.Wait()
		}
		close(begin)
		callers.Wait()
	})
}

func TestCoalescedOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &slowDatabase{fail: func([]int) error { return unavailable(errors.New("gone")) }}
		c := newCoalescer(2, db.one, db.many)
		var callers sync.WaitGroup
		for key := range 50 {
			callers.Go(func() {
				if _, err := c.find(t.Context(), key); fault.KindOf(err) != fault.Unavailable {
					t.Error(fmt.Sprint(key, err))
				}
			})
		}
		callers.Wait()
		if asked := db.alone.Load() + db.together.Load(); asked > 4 {
			t.Errorf("asked a database that is away %d times", asked)
		}
	})
}

func BenchmarkCoalescer(b *testing.B) {
	one := func(_ context.Context, key int) (int, error) { return key, nil }
	many := func(_ context.Context, keys []int) ([]found[int], error) { return make([]found[int], len(keys)), nil }
	c := newCoalescer(8, one, many)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.find(b.Context(), 1); err != nil {
				b.Error(err)
			}
		}
	})
}
