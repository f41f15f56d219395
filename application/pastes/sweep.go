package pastes

import (
	"context"
	"sync/atomic"
	"time"
)

// Sweep removes expired pastes. No answer depends on it: reads leave out expired pastes.
type Sweep struct {
	*module

	removed  atomic.Int64
	failures atomic.Int64
}

// Removed returns how many pastes it has removed.
func (s *Sweep) Removed() int64 { return s.removed.Load() }

// Failures returns how often a sweep has ended with an error other than the end of its context.
func (s *Sweep) Failures() int64 { return s.failures.Load() }

// A batch holds locks (on SQLite, that of the only writer) and keeps a CPU of the database busy, which delays reads. So
// it must be short, and its size adapts to the content of the pastes. The sweeper rests after each batch for as long as
// it took.
const (
	leastBatch = 8
	mostBatch  = 25 // of pastes
	mostRows   = 250
	shortBatch = 50 * time.Millisecond
	longBatch  = 200 * time.Millisecond
	// A timeout keeps a hanging database from blocking the sweeper or a connection for ever, and bounds how long other
	// writers wait.
	batchTimeout = 10 * time.Second
	trialTimeout = 2 * time.Second // of a batch above the minimum size, which may be too large
)

// Do removes what has expired, batch by batch, until nothing is left, and returns how many pastes it removed. Then it
// removes users whose deletion was interrupted, clients whose quota is whole again, the content of pastes that
// operators removed long ago, and old addresses of pastes. It can be cancelled at any time: each batch is a
// transaction.
func (s *Sweep) Do(ctx context.Context) (removed int, err error) {
	err = inBatches(ctx, mostBatch, func(ctx context.Context, limit int) (int, error) {
		n, err := s.store.RemoveExpired(ctx, s.options.SweepGrace, limit)
		removed += n
		s.removed.Add(int64(n))
		return n, err
	})
	for _, remove := range []func(ctx context.Context, limit int) (int, error){
		s.store.FinishDeletions,
		s.store.ForgetClients,
		func(ctx context.Context, limit int) (int, error) {
			return s.store.PurgeRemoved(ctx, s.options.RemovedRetention, limit)
		},
		func(ctx context.Context, limit int) (int, error) {
			return s.store.ForgetOrigins(ctx, s.options.OriginRetention, limit)
		},
	} {
		if err == nil {
			err = inBatches(ctx, mostRows, remove)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.failures.Add(1)
	}
	return removed, err
}

// inBatches calls remove with a limit of at most most until it removes fewer.
func inBatches(ctx context.Context, most int, remove func(ctx context.Context, limit int) (int, error)) error {
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
			limit = leastBatch // a smaller batch may succeed
		case n < limit:
			return nil
		case took > longBatch:
			limit = max(limit/4, leastBatch)
		case took < shortBatch:
			limit = min(2*limit, most)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(took):
		}
	}
}
