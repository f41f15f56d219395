package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// newMemory returns a budget of 48 MiB, for bodies of 2 MiB.
func newMemory() *Memory { return NewMemory(48*mib, 12*mib) }

// handleBody claims memory as a request with a body of 2 MiB does.
func handleBody(ctx context.Context, claim *Claim, sending, handling time.Duration) error {
	defer claim.Release()
	if err := claim.Transfer(ctx, 2*mib); err != nil {
		return err
	}
	time.Sleep(sending)
	if err := claim.Work(ctx, 12*mib); err != nil {
		return err
	}
	time.Sleep(handling)
	return nil
}

// makeList claims memory as a request for a long list does.
func makeList(ctx context.Context, claim *Claim, making, reading time.Duration) error {
	defer claim.Release()
	if err := claim.Transfer(ctx, claim.memory.Share()); err != nil {
		return err
	}
	time.Sleep(making)
	claim.Force(11 * mib)
	time.Sleep(reading)
	return nil
}

// TestCrowd sends requests of 64 clients, from one address or from 64. At least as many are served as if there were one
// client.
func TestCrowd(t *testing.T) {
	t.Parallel()
	const duration = 10 * time.Second
	for name, ask := range map[string]func(context.Context, *Claim) error{
		"bodies": func(ctx context.Context, c *Claim) error {
			return handleBody(ctx, c, 10*time.Millisecond, 50*time.Millisecond)
		},
		"lists": func(ctx context.Context, c *Claim) error {
			return makeList(ctx, c, 500*time.Millisecond, 100*time.Millisecond)
		},
	} {
		for _, addresses := range []int{1, 64} {
			t.Run(fmt.Sprintf("%s from %d", name, addresses), func(t *testing.T) {
				t.Parallel()
				count := func(clients int) (served, refused int64) {
					synctest.Test(t, func(t *testing.T) {
						m, end := newMemory(), time.Now().Add(duration)
						var done, failed atomic.Int64
						var requests sync.WaitGroup
						for i := range clients {
							requests.Go(func() {
								for time.Now().Before(end) {
									claim := m.Claim(fmt.Sprint(i % addresses))
									if start := time.Now(); ask(t.Context(), &claim) == nil {
										done.Add(1)
									} else if failed.Add(1); time.Since(start) < patience {
										t.Errorf("got a refusal after %v, want at least %v", time.Since(start), patience)
									}
								}
							})
						}
						requests.Wait()
						served, refused = done.Load(), failed.Load()
						if m.inUse != (holding{}) || len(m.clients) > 0 || m.waiting > 0 {
							t.Errorf("got %+v taken, %v held and %d waiting in the end, want nothing", m.inUse, m.clients, m.waiting)
						}
					})
					return served, refused
				}
				alone, _ := count(1)
				crowd, refused := count(64)
				t.Logf("one client: %d; 64 clients: %d, and %d refused", alone, crowd, refused)
				if crowd < alone {
					t.Errorf("got %d served beside %d refused, want at least the %d of one client", crowd, refused, alone)
				}
			})
		}
	}
}

// TestOneOfManyIsServed checks that a request does not wait for a hundred requests of another address.
func TestOneOfManyIsServed(t *testing.T) {
	t.Parallel()
	const handling = 100 * time.Millisecond
	for name, ask := range map[string]func(context.Context, *Claim) error{
		"bodies":             func(ctx context.Context, c *Claim) error { return handleBody(ctx, c, 0, handling) },
		"lists":              func(ctx context.Context, c *Claim) error { return makeList(ctx, c, handling, handling) },
		"bodies sent slowly": func(ctx context.Context, c *Claim) error { return handleBody(ctx, c, time.Minute, handling) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				var requests sync.WaitGroup
				for range 100 {
					requests.Go(func() {
						claim := m.Claim("many")
						_ = ask(t.Context(), &claim)
					})
				}
				synctest.Wait()
				start, one := time.Now(), m.Claim("one")
				if err := handleBody(t.Context(), &one, 0, 0); err != nil {
					t.Errorf("got %v, want it to be served", err)
				}
				if elapsed := time.Since(start); elapsed > 2*handling { // what is under way, and what has arrived
					t.Errorf("got an answer after %v, want one within %v", elapsed, 2*handling)
				}
				requests.Wait()
			})
		})
	}
}

// TestSlowClients lets clients of ten addresses hold all that they can, and checks that a body that has arrived is
// handled.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		body := m.Claim("one")
		if err := body.Transfer(t.Context(), 2*mib); err != nil {
			t.Fatal(err)
		}
		var slow sync.WaitGroup
		for i := range 100 {
			slow.Go(func() {
				claim := m.Claim(fmt.Sprint("slow", i%10))
				if claim.Transfer(t.Context(), 2*mib) == nil {
					time.Sleep(time.Hour)
					claim.Release()
				}
			})
		}
		synctest.Wait()
		if start := time.Now(); body.Work(t.Context(), 12*mib) != nil || time.Since(start) > 0 {
			t.Error("got a refusal of the work on a body that has arrived, want it granted at once")
		}
		body.Release()
		other := m.Claim("other")
		if start := time.Now(); !errors.Is(other.Transfer(t.Context(), 2*mib), ErrNoMemory) || time.Since(start) != patience {
			t.Errorf("got an end of the waiting after %v, want a refusal after %v", time.Since(start), patience)
		}
		if other.Transfer(t.Context(), Uncounted) != nil || !other.Try(Uncounted) {
			t.Error("got a refusal of a short body, want it granted")
		}
		slow.Wait()
	})
}

// TestLoneWaiter checks that a waiter wakes in each way in which memory becomes free.
func TestLoneWaiter(t *testing.T) {
	t.Parallel()
	for name, free := range map[string]func(holder *Claim){
		"release":         (*Claim).Release,
		"a shorter claim": func(holder *Claim) { holder.Force(mib) },
		"less by trying":  func(holder *Claim) { _ = holder.Try(mib) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				holder, w := m.Claim("a"), m.Claim("a")
				holder.Force(m.Share())
				results := make(chan error, 1)
				go func() { results <- w.Transfer(t.Context(), 20*mib) }()
				synctest.Wait()
				start := time.Now()
				free(&holder)
				if err := <-results; err != nil || time.Since(start) > 0 {
					t.Errorf("got %v after %v, want it granted at once", err, time.Since(start))
				}
			})
		})
	}
	t.Run("one that was in the way gives up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			for _, client := range []string{"a", "b"} {
				holder := m.Claim(client)
				holder.Force(16 * mib)
			}
			ctx, cancel := context.WithCancel(t.Context())
			large, small := m.Claim("c"), m.Claim("d")
			results := make(chan error, 2)
			go func() { results <- large.Transfer(ctx, 20*mib) }()
			synctest.Wait()
			go func() { results <- small.Transfer(t.Context(), 2*mib) }()
			synctest.Wait()
			start := time.Now()
			cancel()
			first, second := <-results, <-results
			if (first == nil) == (second == nil) || time.Since(start) > 0 {
				t.Errorf("got %v and %v after %v, want one refused and the other granted at once", first, second, time.Since(start))
			}
		})
	})
}

// TestClaims changes claims without waiting.
func TestClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, start := newMemory(), time.Now()
		c, other := m.Claim("a"), m.Claim("a")
		if c.Transfer(t.Context(), 2*m.Share()) == nil {
			t.Error("got more than a client may have, want a refusal")
		}
		if !c.Try(m.Share()) || other.Try(m.Share()) || !other.Holds(Uncounted) {
			t.Error("got the share of a client twice, want it once")
		}
		other.Force(m.Share())
		if !other.Holds(m.Share()) || m.inUse.all < m.Share() {
			t.Errorf("got %+v, want what was forced to be held", m.inUse)
		}
		if !other.Try(m.Share()-mib) || other.Holds(m.Share()) {
			t.Error("got no shorter claim, want it although its client has more than its share")
		}
		other.Release()
		c.Release()
		if m.inUse != (holding{}) || len(m.clients) > 0 || time.Since(start) > 0 {
			t.Errorf("got %+v, %v held after %v, want nothing, at once", m.inUse, m.clients, time.Since(start))
		}
	})
}

// TestManyWaiting checks that requests beyond the limit of waiters are refused at once, and leave room for a client
// that comes later.
func TestManyWaiting(t *testing.T) {
	t.Parallel()
	for addresses, most := range map[int]int{1: maxWaitingOfOne, 2: maxWaiting, 100: maxWaiting} {
		t.Run(fmt.Sprintf("%d addresses", addresses), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				full := m.Claim("full")
				full.Force(48 * mib)
				var served, refused atomic.Int64
				var requests sync.WaitGroup
				for i := range 8 * maxWaiting {
					requests.Go(func() {
						claim, start := m.Claim(fmt.Sprint(i%addresses)), time.Now()
						defer claim.Release()
						switch err := claim.Transfer(t.Context(), 2*mib); {
						case err == nil:
							served.Add(1)
						case !errors.Is(err, ErrNoMemory) || time.Since(start) > 0:
							t.Errorf("got %v after %v, want to be refused at once", err, time.Since(start))
						default:
							refused.Add(1)
						}
					})
				}
				synctest.Wait()
				other := make(chan error)
				go func() {
					claim := m.Claim("other")
					defer claim.Release()
					other <- claim.Transfer(t.Context(), mib)
				}()
				synctest.Wait()
				full.Release()
				if err := <-other; (err == nil) != (most < maxWaiting) {
					t.Errorf("another client: got %v beside %d waiting requests, want no error: %v", err, most, most < maxWaiting)
				}
				requests.Wait()
				if served.Load() != int64(most) || refused.Load() != int64(8*maxWaiting-most) {
					t.Errorf("got %d served and %d refused, want %d served", served.Load(), refused.Load(), most)
				}
				if m.inUse != (holding{}) || len(m.clients) > 0 || m.waiting > 0 {
					t.Errorf("got %+v taken, %v held and %d waiting in the end, want nothing", m.inUse, m.clients, m.waiting)
				}
			})
		})
	}
}
