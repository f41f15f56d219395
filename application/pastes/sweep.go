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
	pastes   remover
	grace    time.Duration
	removed  atomic.Int64
	failures atomic.Int64
}

// remover is what Sweep needs of a store.
type remover interface {
	paste.ExpiredRemover
	paste.ClientForgetter
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
// returns how many pastes it removed. Then it has the clients forgotten who have their whole quota again. It can be cancelled at
// any instant: each batch is complete or undone.
func (s *Sweep) Do(ctx context.Context) (removed int, err error) {
	ctx, end := trace.Start(ctx, "pastes.Sweep")
	defer func() { end(err) }()
	err = s.batches(ctx, func(ctx context.Context, limit int) (int, error) {
		n, err := s.pastes.RemoveExpired(ctx, s.grace, limit)
		removed += n
		s.removed.Add(int64(n))
		return n, err
	})
	if err == nil {
		err = s.batches(ctx, s.pastes.ForgetClients)
	}
	if err != nil && ctx.Err() == nil {
		s.failures.Add(1)
	}
	return removed, err
}

// batches calls remove with the most that it may remove until it removes fewer.
func (s *Sweep) batches(ctx context.Context, remove func(ctx context.Context, limit int) (int, error)) error {
	for limit := sweepLeast; ; {
		began := time.Now()
		n, err := batch(ctx, limit, remove)
		switch took := time.Since(began); {
		case err != nil && (limit == sweepLeast || ctx.Err() != nil):
			return err
		case err == nil && n < limit:
			return nil
		case err != nil || took > sweepHold:
			limit = sweepLeast
		case took < sweepHold/2:
			limit = min(2*limit, sweepMost)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(sweepRest):
		}
	}
}

func batch(ctx context.Context, limit int, remove func(ctx context.Context, limit int) (int, error)) (int, error) {
	patience := sweepPatience
	if limit > sweepLeast {
		patience = sweepTrial
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return remove(ctx, limit)
}
