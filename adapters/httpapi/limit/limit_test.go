package limit

import (
	"net/http"
	"testing"
	"time"
)

func TestClients(t *testing.T) {
	t.Parallel()
	g := newClients(10, time.Second, 3) // one each 100 ms, three at once
	start := time.Unix(1_000_000, 0)
	for _, step := range []struct {
		after time.Duration // since start
		wait  time.Duration
		left  int
	}{
		{0, 0, 2}, {0, 0, 1}, {0, 0, 0}, {0, 100 * time.Millisecond, 0},
		{60 * time.Millisecond, 40 * time.Millisecond, 0},
		{100 * time.Millisecond, 0, 0}, {100 * time.Millisecond, 100 * time.Millisecond, 0},
		{time.Hour, 0, 2}, {time.Hour, 0, 1}, {time.Hour, 0, 0}, {time.Hour, 100 * time.Millisecond, 0},
	} {
		if use, wait := g.take(7, start.Add(step.after)); wait != step.wait || use.Left != step.left {
			t.Errorf("after %v: got %v and %d left, want %v and %d", step.after, wait, use.Left, step.wait, step.left)
		}
	}
	for range 3 {
		if _, wait := g.take(8, start); wait > 0 {
			t.Errorf("another key: got %v, want all of its burst", wait)
		}
	}
}

func TestLookingCountsNothing(t *testing.T) {
	t.Parallel()
	g, now := newClients(1, time.Minute, 1), time.Unix(1_000_000, 0)
	for range 3 {
		if wait := g.peek(1, now); wait > 0 {
			t.Fatalf("got a wait of %v, want none", wait)
		}
	}
	g.take(1, now)
	if wait := g.peek(1, now); wait != time.Minute {
		t.Errorf("got a wait of %v, want a minute", wait)
	}
}

// TestLookingTakesNoPlace checks that looking up many new clients does not evict one that is limited.
func TestLookingTakesNoPlace(t *testing.T) {
	t.Parallel()
	g, now := newClients(1, time.Minute, 1), time.Unix(1_000_000, 0)
	g.charge(1, now)
	for key := range uint64(2 * maxClients) {
		g.peek(key+2, now)
	}
	if g.peek(1, now) == 0 {
		t.Error("got the client allowed, want it still limited")
	}
}

// TestManyKeys checks that a busy client stays limited among many times as many clients as there is room for.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	g, now := newClients(1, time.Second, 2), time.Unix(1_000_000, 0)
	g.take(42, now)
	g.take(42, now)
	for key := range uint64(200_000) {
		if _, wait := g.take(key*0x9e3779b97f4a7c15+1, now); wait > 0 {
			t.Fatalf("key %d: got %v, want a burst of its own", key, wait)
		}
		if key%1000 == 0 {
			if _, wait := g.take(42, now); wait == 0 {
				t.Fatal("got one more for the client that has had its burst, want none")
			}
		}
	}
	if clients := g.buckets.Len(); clients != maxClients {
		t.Errorf("got %d clients, want %d", clients, maxClients)
	}
}

func BenchmarkClients(b *testing.B) {
	g, now := newClients(1_000_000, time.Second, 1_000_000), time.Now()
	b.ReportAllocs()
	for i := range b.N {
		g.take(uint64(i&1023), now)
	}
}

func TestDebtIsBounded(t *testing.T) {
	t.Parallel()
	g, now := newClients(1, time.Minute, 1), time.Unix(1_000_000, 0)
	for range 1000 {
		g.charge(1, now)
	}
	if wait := g.peek(1, now); wait == 0 || wait > maxDebt+time.Minute {
		t.Errorf("got a wait of %v, want at most %s", wait, maxDebt+time.Minute)
	}
}

// TestUse checks that the fields list several limits, with seconds rounded up.
func TestUse(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	Use{}.Tell(header)
	if len(header) > 0 {
		t.Errorf("got %v without a limit, want nothing", header)
	}
	Use{"requests", 50, time.Second, 49, 20 * time.Millisecond}.Tell(header)
	Use{"anonymous", 60, time.Hour, 0, time.Hour}.Tell(header)
	if got, want := header.Get("RateLimit-Policy"), `"requests";q=50;w=1, "anonymous";q=60;w=3600`; got != want {
		t.Errorf("got RateLimit-Policy %s, want %s", got, want)
	}
	if got, want := header.Get("RateLimit"), `"requests";r=49;t=1, "anonymous";r=0;t=3600`; got != want {
		t.Errorf("got RateLimit %s, want %s", got, want)
	}
}
