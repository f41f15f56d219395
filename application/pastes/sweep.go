package pastes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

// Sweep removes expired pastes. No answer depends on it: what is active is judged by the clock.
type Sweep struct {
	pastes   remover
	grace    time.Duration
	kept     time.Duration // for which what was removed can be restored
	origins  time.Duration // for which addresses are kept
	removed  atomic.Int64
	failures atomic.Int64
}

// remover is what Sweep needs of a store.
type remover interface {
	paste.ExpiredRemover
	paste.ClientForgetter
	moderation.Purger
}

// Removed returns how many pastes it has removed.
func (s *Sweep) Removed() int64 { return s.removed.Load() }

// Failures returns how often a sweep has ended with an error other than the end of its context.
func (s *Sweep) Failures() int64 { return s.failures.Load() }

// A batch holds locks, on SQLite that of the only writer, so it is to be short. How long it takes depends on what the pastes hold: its
// size follows that. Between two batches the sweeper rests for as long as one took.
const (
	leastBatch = 8
	mostBatch  = 1000
	shortBatch = 50 * time.Millisecond
	longBatch  = 200 * time.Millisecond
	// A database that hangs keeps neither a connection nor the sweeper for good, and other writers wait no longer than for a trial.
	batchTimeout = 10 * time.Second
	trialTimeout = 2 * time.Second // of a batch that is larger than the least, and may be too much
)

// Do removes what has expired, batch by batch, until nothing is left, and returns how many pastes it removed. Then it removes what is
// known of clients who have their whole quota again, the content of pastes that were removed long ago, and the addresses that pastes
// came from. It can be cancelled at any instant: each batch is complete or undone.
func (s *Sweep) Do(ctx context.Context) (removed int, err error) {
	err = inBatches(ctx, func(ctx context.Context, limit int) (int, error) {
		n, err := s.pastes.RemoveExpired(ctx, s.grace, limit)
		removed += n
		s.removed.Add(int64(n))
		return n, err
	})
	if err == nil {
		err = inBatches(ctx, s.pastes.ForgetClients)
	}
	if err == nil {
		err = inBatches(ctx, func(ctx context.Context, limit int) (int, error) { return s.pastes.PurgeRemoved(ctx, s.kept, limit) })
	}
	if err == nil {
		err = inBatches(ctx, func(ctx context.Context, limit int) (int, error) {
			return s.pastes.ForgetOrigins(ctx, s.origins, limit)
		})
	}
	if err != nil && ctx.Err() == nil {
		s.failures.Add(1)
	}
	return removed, err
}

// inBatches calls remove with the most that it may remove, until it removes fewer.
func inBatches(ctx context.Context, remove func(ctx context.Context, limit int) (int, error)) error {
	for limit := leastBatch; ; {
		began := time.Now()
		timeout := batchTimeout
		if limit > leastBatch {
			timeout = trialTimeout
		}
		batch, cancel := context.WithTimeout(ctx, timeout)
		n, err := remove(batch, limit)
		cancel()
		took := time.Since(began)
		switch {
		case err != nil && (limit == leastBatch || ctx.Err() != nil):
			return err
		case err != nil:
			limit = leastBatch // what is too much at once may go in parts
		case n < limit:
			return nil
		case took > longBatch:
			limit = max(limit/4, leastBatch)
		case took < shortBatch:
			limit = min(2*limit, mostBatch)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(took):
		}
	}
}
