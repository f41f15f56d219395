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
		c := newCoalescer(true, db.one, db.many)
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
		// Two at once by themselves, then the other 198 in statements of 64, two at a time.
		if took := time.Since(started); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		if db.alone.Load() != 3 || db.together.Load() != 4 || db.largest.Load() != maxCoalesced {
			t.Errorf("%d alone, %d together, at most %d", db.alone.Load(), db.together.Load(), db.largest.Load())
		}
		synctest.Wait()
		if c.running != 0 || len(c.waiting) != 0 {
			t.Errorf("%d running, %d waiting", c.running, len(c.waiting))
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
		c := newCoalescer(true, db.one, db.many)
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
		for key := range coalesceWorkers {
			ask(t.Context(), key, answered) // these run by themselves; the others wait for them
		}
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

func TestCoalescedOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &slowDatabase{fail: func([]int) error { return unavailable(errors.New("gone")) }}
		c := newCoalescer(true, db.one, db.many)
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
