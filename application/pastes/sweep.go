package pastes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

// Sweep removes expired pastes. No answer depends on it: what is active is judged by the clock.
type Sweep struct {
	pastes   paste.ExpiredRemover
	grace    time.Duration
	removed  atomic.Int64
	failures atomic.Int64
}

// Removed returns how many pastes it has removed.
func (s *Sweep) Removed() int64 { return s.removed.Load() }

// Failures returns how often a sweep has ended with an error other than the end of its context.
func (s *Sweep) Failures() int64 { return s.failures.Load() }

// Sweeping works in batches small enough not to hold a lock that a request would notice, with a rest
// between two of them that leaves the database to the requests.
const (
	sweepBatch = 500
	sweepRest  = 20 * time.Millisecond
	// sweepPatience bounds one batch, so that a database that hangs keeps neither a connection nor the sweeper for good.
	sweepPatience = 10 * time.Second
)

// Do removes what has expired, batch by batch, until nothing is left or another node is at it, and
// returns how many pastes it removed. It can be cancelled at any instant: each batch is complete or undone.
func (s *Sweep) Do(ctx context.Context) (removed int, err error) {
	for {
		n, err := s.batch(ctx)
		removed += n
		s.removed.Add(int64(n))
		if err != nil && ctx.Err() == nil {
			s.failures.Add(1)
		}
		if err != nil || n < sweepBatch {
			return removed, err
		}
		select {
		case <-ctx.Done():
			return removed, ctx.Err()
		case <-time.After(sweepRest):
		}
	}
}

func (s *Sweep) batch(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepPatience)
	defer cancel()
	return s.pastes.RemoveExpired(ctx, s.grace, sweepBatch)
}
