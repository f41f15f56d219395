package gormstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

func TestDataloaderMerges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &slowDatabase{}
		c := newDataloader(2, new(batchSizes), db.one, db.many)
		if got, err := c.find(t.Context(), 7); got != 49 || err != nil || db.alone.Load() != 1 {
			t.Errorf("got %d, error %v, %d lookups alone, want 49 by one", got, err, db.alone.Load())
		}
		started := time.Now()
		var callers sync.WaitGroup
		for key := range 200 {
			callers.Go(func() {
				if got, err := c.find(t.Context(), key); got != key*key || err != nil {
					t.Errorf("%d: got %d, error %v, want %d", key, got, err, key*key)
				}
			})
		}
		callers.Wait()
		// One by itself and 64 beside it, then 64 and 64, then the other 7.
		if took := time.Since(started); took != 3*time.Second {
			t.Errorf("got answers after %v, want 3s", took)
		}
		if db.alone.Load() != 2 || db.together.Load() != 4 || db.largest.Load() != maxBatch {
			t.Errorf("got %d lookups alone and %d together, of at most %d keys, want 2, 4 and %d",
				db.alone.Load(), db.together.Load(), db.largest.Load(), maxBatch)
		}
		synctest.Wait()
		if len(c.running) != 0 || len(c.waiting) != 0 {
			t.Errorf("got %d running and %d waiting, want none", len(c.running), len(c.waiting))
		}
	})
}

func TestBatchedCallersAreIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &slowDatabase{fail: func(keys []int) error {
			if slices.Contains(keys, 13) {
				return fault.Wrap(fault.Internal, "x", errors.New("the database chokes on 13"))
			}
			return nil
		}}
		c := newDataloader(2, new(batchSizes), db.one, db.many)
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
					t.Errorf("%d: got %s, want %s", key, outcome, want)
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
			t.Error("got no lookup together, want some")
		}
	})
}

// TestCallersWhoComeAndGo has many who give up at the moment at which they are answered: nobody gets an answer that was another's,
// although those who wait are kept for the next.
func TestCallersWhoComeAndGo(t *testing.T) {
	t.Parallel()
	wait := func() { time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond) }
	one := func(_ context.Context, key int) (int, error) {
		wait()
		return key * key, nil
	}
	c := newDataloader(2, new(batchSizes), one, func(_ context.Context, keys []int) ([]found[int], error) {
		wait()
		answers := make([]found[int], len(keys))
		for i, key := range keys {
			answers[i].value = key * key
		}
		return answers, nil
	})
	var callers sync.WaitGroup
	var answered, gone atomic.Int64
	for caller := range 32 {
		callers.Go(func() {
			for round := range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(400))*time.Microsecond)
				key := caller*1000 + round
				switch got, err := c.find(ctx, key); {
				case err != nil:
					gone.Add(1)
				case got != key*key:
					t.Errorf("got %d, want %d", got, key*key)
				default:
					answered.Add(1)
				}
				cancel()
			}
		})
	}
	callers.Wait()
	if answered.Load() < 100 || gone.Load() < 100 {
		t.Errorf("got %d answered and %d gone, want many of both", answered.Load(), gone.Load())
	}
}

// A statement that hangs, on a connection that nobody answers any more, must not hold up the others.
func TestDataloaderGivesUpWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		one := func(_ context.Context, key int) (int, error) {
			if key == 0 {
				<-hang
			}
			return key, nil
		}
		c := newDataloader(2, new(batchSizes), one, func(context.Context, []int) ([]found[int], error) { return nil, errors.New("not needed") })
		var stuck sync.WaitGroup
		stuck.Go(func() { _, _ = c.find(t.Context(), 0) })
		synctest.Wait()
		time.Sleep(batchPatience)
		for key := 1; key < 10; key++ {
			started := time.Now()
			if got, err := c.find(t.Context(), key); got != key || err != nil || time.Since(started) != 0 {
				t.Errorf("%d: got %d, error %v after %v, want the key at once", key, got, err, time.Since(started))
			}
		}
		close(hang)
		stuck.Wait()
	})
}

// hangingDatabase answers at once, but hangs on keys below zero. hang begins such a statement.
func hangingDatabase(t *testing.T, most int) (c *dataloader[int, int], hang func(key int) (release func())) {
	t.Helper()
	released := map[int]chan struct{}{-1: make(chan struct{}), -2: make(chan struct{})}
	one := func(_ context.Context, key int) (int, error) {
		if key < 0 {
			<-released[key]
		}
		return key, nil
	}
	many := func(_ context.Context, keys []int) ([]found[int], error) {
		answers := make([]found[int], len(keys))
		for i, key := range keys {
			answers[i].value = key
		}
		return answers, nil
	}
	c = newDataloader(most, new(batchSizes), one, many)
	return c, func(key int) func() {
		go func() { _, _ = c.find(t.Context(), key) }()
		synctest.Wait()
		return func() { close(released[key]) }
	}
}

// wantAnswerAfter asks for a key and fails the test unless the answer takes exactly that long.
func wantAnswerAfter(t *testing.T, c *dataloader[int, int], key int, wait time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	started := time.Now()
	if got, err := c.find(ctx, key); got != key || err != nil || time.Since(started) != wait {
		t.Errorf("%d: %d, %v after %v, want an answer after %v", key, got, err, time.Since(started), wait)
	}
}

// Someone who waits alone for a statement that hangs must not need others to come.
func TestDataloaderWakesALoneWaiter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T){
		"behind one that hangs": func(t *testing.T) {
			c, hang := hangingDatabase(t, 8)
			defer hang(-1)()
			wantAnswerAfter(t, c, 1, batchPatience)
			wantAnswerAfter(t, c, 2, 0) // the one that hangs has been waited for long enough
		},
		"left by a statement that ended": func(t *testing.T) {
			c, hang := hangingDatabase(t, 3)
			first := hang(-1)
			time.Sleep(batchPatience)
			defer hang(-2)()
			go func() {
				time.Sleep(batchPatience / 2)
				first() // the second is too young to begin beside it
			}()
			time.Sleep(batchPatience / 4)
			wantAnswerAfter(t, c, 1, 3*batchPatience/4)
		},
		"when no more could begin": func(t *testing.T) {
			c, hang := hangingDatabase(t, 2)
			first := hang(-1)
			time.Sleep(batchPatience)
			defer hang(-2)()
			go func() {
				time.Sleep(time.Second)
				first()
			}()
			wantAnswerAfter(t, c, 1, time.Second)
		},
		"beyond a full batch": func(t *testing.T) {
			c, hang := hangingDatabase(t, 8)
			c.largest = 2
			c.many = func(ctx context.Context, _ []int) ([]found[int], error) {
				<-ctx.Done()
				return nil, unavailable(ctx.Err())
			}
			defer hang(-1)()
			for key := range 2 { // a batch, which hangs as well
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					_, _ = c.find(ctx, key)
				}()
			}
			synctest.Wait()
			wantAnswerAfter(t, c, 7, batchPatience)
			time.Sleep(time.Minute) // the batch gives up
		},
		"behind those who have gone": func(t *testing.T) {
			c, hang := hangingDatabase(t, 8)
			defer hang(-1)()
			gone, leave := context.WithCancel(t.Context())
			for key := range 100 {
				go func() { _, _ = c.find(gone, 100+key) }()
			}
			leave()
			synctest.Wait()
			wantAnswerAfter(t, c, 1, batchPatience)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, test)
		})
	}
}

// A timer rings while somebody waits, and not otherwise; the bubble fails if a goroutine is left.
func TestDataloaderRestsWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, hang := hangingDatabase(t, 8)
		release := hang(-1)
		if c.timer != nil {
			t.Error("got a timer, want none where nobody waits")
		}
		wantAnswerAfter(t, c, 1, batchPatience)
		release()
		time.Sleep(batchPatience)
		synctest.Wait()
		if c.armed || c.timer.Stop() {
			t.Error("got a timer that runs, want none where nobody waits")
		}
	})
}

func TestBatchedPanic(t *testing.T) {
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
		c := newDataloader(1, new(batchSizes), one, func(context.Context, []int) ([]found[int], error) { panic("many") })
		var callers sync.WaitGroup
		for key := range 20 {
			callers.Go(func() {
				got, err := c.find(t.Context(), key)
				if key == 13 && !fault.Is(err, fault.Internal) || key != 13 && (got != key || err != nil) {
					t.Errorf("%d: got %d, error %v, want the key, or %v for 13", key, got, err, fault.Internal)
				}
			})
			synctest.Wait()
		}
		close(begin)
		callers.Wait()
	})
}

func TestBatchedOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &slowDatabase{fail: func([]int) error { return unavailable(errors.New("gone")) }}
		c := newDataloader(2, new(batchSizes), db.one, db.many)
		var callers sync.WaitGroup
		for key := range 50 {
			callers.Go(func() {
				if _, err := c.find(t.Context(), key); !fault.Is(err, fault.Unavailable) {
					t.Errorf("%d: got %v, want %v", key, err, fault.Unavailable)
				}
			})
		}
		callers.Wait()
		if asked := db.alone.Load() + db.together.Load(); asked > 4 {
			t.Errorf("got %d questions to a database that is away, want at most 4", asked)
		}
	})
}

func BenchmarkDataloader(b *testing.B) {
	one := func(_ context.Context, key int) (int, error) { return key, nil }
	many := func(_ context.Context, keys []int) ([]found[int], error) { return make([]found[int], len(keys)), nil }
	c := newDataloader(8, new(batchSizes), one, many)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.find(b.Context(), 1); err != nil {
				b.Error(err)
			}
		}
	})
}
