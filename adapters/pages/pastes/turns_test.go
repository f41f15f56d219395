package pastes

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// TestTurns checks that a client does one thing at a time, that few of its requests wait, and that others do not.
func TestTurns(t *testing.T) {
	t.Parallel()
	var all turns
	end, err := all.begin(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all.begin(ctx, "a"); !fault.Is(err, fault.Busy) {
		t.Errorf("got %v for a request that has ended before its turn, want fault.Busy", err)
	}
	ends := make(chan func())
	for range maxPreviews - 1 {
		go func() {
			next, _ := all.begin(context.WithoutCancel(t.Context()), "a")
			ends <- next
		}()
	}
	waiting := func() int {
		all.mu.Lock()
		defer all.mu.Unlock()
		return all.clients["a"].waiting
	}
	for waiting() < maxPreviews {
		time.Sleep(time.Millisecond)
	}
	if _, err := all.begin(t.Context(), "a"); !errors.Is(err, errManyPreviews) {
		t.Errorf("got %v for one more, want %v", err, errManyPreviews)
	}
	select {
	case <-ends:
		t.Fatal("got a second turn during the first, want it after")
	default:
	}
	other, err := all.begin(t.Context(), "b")
	if err != nil {
		t.Fatalf("another client: got %v, want its turn", err)
	}
	other()
	end()
	for range maxPreviews - 1 {
		next := <-ends
		select {
		case <-ends:
			t.Fatal("got two turns at once, want one")
		default:
		}
		next()
	}
	if len(all.clients) > 0 {
		t.Errorf("got %d clients, want none", len(all.clients))
	}
}
