package pastes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/trace"
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
// between two of them that leaves the database to the requests. How long one takes depends on what the pastes hold: 500 of
// 2 KiB are removed in milliseconds, 500 with a long history each in a minute, for which SQLite lets nobody else write.
const (
	sweepLeast = 8
	sweepMost  = 500
	sweepRest  = 20 * time.Millisecond
	// sweepHold is what one batch may take: after a longer one, they are small again.
	sweepHold = 500 * time.Millisecond
	// sweepPatience bounds one batch, so that a database that hangs keeps neither a connection nor the sweeper for good. One that
	// is larger than the least is given up earlier: it may be too much, and goes on as several.
	sweepPatience, sweepTrial = 10 * time.Second, 2 * time.Second
)

// Do removes what has expired, batch by batch, until nothing is left or another node is at it, and
// returns how many pastes it removed. It can be cancelled at any instant: each batch is complete or undone.
func (s *Sweep) Do(ctx context.Context) (removed int, err error) {
	ctx, end := trace.Start(ctx, "pastes.Sweep")
	defer func() { end(err) }()
	for limit := sweepLeast; ; {
		began := time.Now()
		n, err := s.batch(ctx, limit)
		removed += n
		s.removed.Add(int64(n))
		switch took := time.Since(began); {
		case err != nil && (limit == sweepLeast || ctx.Err() != nil):
			if ctx.Err() == nil {
				s.failures.Add(1)
			}
			return removed, err
		case err == nil && n < limit:
			return removed, nil
		case err != nil || took > sweepHold:
			limit = sweepLeast
		case took < sweepHold/2:
			limit = min(2*limit, sweepMost)
		}
		select {
		case <-ctx.Done():
			return removed, ctx.Err()
		case <-time.After(sweepRest):
		}
	}
}

func (s *Sweep) batch(ctx context.Context, limit int) (int, error) {
	patience := sweepPatience
	if limit > sweepLeast {
		patience = sweepTrial
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.pastes.RemoveExpired(ctx, s.grace, limit)
}
