package pastes

import (
	"context"
	"testing"
	"time"
)

// TestBatchesOfLargeRows wants rows that take long to remove never to be removed many at once, which locks out other
// writers.
func TestBatchesOfLargeRows(t *testing.T) {
	t.Parallel()
	left, longest := 300, time.Duration(0)
	err := inBatches(t.Context(), mostRows, func(ctx context.Context, limit int) (int, error) {
		n := min(limit, left)
		took := time.Duration(n) * 3 * time.Millisecond
		left, longest = left-n, max(longest, took)
		select {
		case <-time.After(took):
			return n, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
	if err != nil || longest > time.Second/2 {
		t.Errorf("got %v, and a batch of %v, want none over half a second", err, longest)
	}
}
