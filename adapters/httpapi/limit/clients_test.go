package limit

import (
	"testing"
	"time"
)

func TestClients(t *testing.T) {
	t.Parallel()
	g := newClients(10, time.Second, 3) // one each 100 ms, three at once
	start := time.Unix(1_000_000, 0)
	for _, step := range []struct {
		after     time.Duration // since start
		allowed   bool
		remaining int
		retry     time.Duration
	}{
		{0, true, 2, 0}, {0, true, 1, 0}, {0, true, 0, 0}, {0, false, 0, 100 * time.Millisecond},
		{60 * time.Millisecond, false, 0, 40 * time.Millisecond},
		{100 * time.Millisecond, true, 0, 0}, {100 * time.Millisecond, false, 0, 100 * time.Millisecond},
		{time.Hour, true, 2, 0}, {time.Hour, true, 1, 0},
	} {
		got := g.take(7, start.Add(step.after))
		if got.allowed != step.allowed || got.remaining != step.remaining || got.retry != step.retry {
			t.Errorf("after %v: got %+v, want %+v", step.after, got, step)
		}
	}
	if other := g.take(8, start); !other.allowed || other.remaining != 2 {
		t.Errorf("another key: got %+v, want all of its burst", other)
	}
}

func TestLookingCountsNothing(t *testing.T) {
	t.Parallel()
	g, now := newClients(1, time.Minute, 1), time.Unix(1_000_000, 0)
	for range 3 {
		if v := g.peek(1, now); !v.allowed {
			t.Fatalf("got %+v, want what has not been taken yet", v)
		}
	}
	g.take(1, now)
	if v := g.peek(1, now); v.allowed || v.retry != time.Minute {
		t.Errorf("got %+v, want nothing for a minute", v)
	}
}

// TestLookingTakesNoPlace looks for very many clients that have done nothing, and goes on refusing one that has.
func TestLookingTakesNoPlace(t *testing.T) {
	t.Parallel()
	g, now := newClients(1, time.Minute, 1), time.Unix(1_000_000, 0)
	g.charge(1, now)
	for key := range uint64(2 * maxClients) {
		g.peek(key+2, now)
	}
	if v := g.peek(1, now); v.allowed {
		t.Errorf("got %+v, want it still refused", v)
	}
}

// TestManyKeys limits many times as many clients as there is room for, and goes on limiting one that comes again and again.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	g, now := newClients(1, time.Second, 2), time.Unix(1_000_000, 0)
	g.take(42, now)
	g.take(42, now)
	for key := range uint64(200_000) {
		if v := g.take(key*0x9e3779b97f4a7c15+1, now); !v.allowed {
			t.Fatalf("key %d: got %+v, want a burst of its own", key, v)
		}
		if key%1000 == 0 && g.take(42, now).allowed {
			t.Fatal("got one more for the client that has had its burst, want none")
		}
	}
	if known := g.known.Len(); known != maxClients {
		t.Errorf("got %d clients known, want %d", known, maxClients)
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
	if v := g.peek(1, now); v.allowed || v.retry > maxDebt+time.Minute {
		t.Errorf("got %+v, want to wait for no more than %s", v, maxDebt)
	}
}
