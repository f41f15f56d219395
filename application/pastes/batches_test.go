package pastes

import (
	"context"
	"testing"
	"time"
)

// TestBatchesOfLargeRows checks that rows that take long to remove are removed in small batches. A large one would lock
// out other writers.
func TestBatchesOfLargeRows(t *testing.T) {
	t.Parallel()
	rows, longest := 300, time.Duration(0)
	err := inBatches(t.Context(), mostRows, func(ctx context.Context, limit int) (int, error) {
		n := min(limit, rows)
		took := time.Duration(n) * 3 * time.Millisecond
		rows, longest = rows-n, max(longest, took)
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
