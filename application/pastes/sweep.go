package pastes

import (
	"context"
	"sync"
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
	expired  backlog
	clients  backlog
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

// Sweeping works in batches small enough not to hold a lock, or a processor, that a request would notice, with a rest
// between two of them that leaves the database to the requests. How long one takes depends on what the pastes hold: 20 of
// 2 KiB are removed in milliseconds, 20 with a long history each in seconds, for which SQLite lets nobody else write.
const (
	sweepLeast = 8
	sweepMost  = 20
	// A batch is followed by a rest of sweepShare times what it took, so that sweeping takes a quarter of the time, and of no less
	// than sweepRest. That is all where a backlog has lasted for sweepCalm: more may expire than is removed.
	sweepShare = 3
	sweepRest  = 2 * time.Millisecond
	sweepCalm  = time.Hour
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
	err = s.expired.batches(ctx, func(ctx context.Context, limit int) (int, error) {
		n, err := s.pastes.RemoveExpired(ctx, s.grace, limit)
		removed += n
		s.removed.Add(int64(n))
		return n, err
	})
	if err == nil {
		err = s.clients.batches(ctx, s.pastes.ForgetClients)
	}
	if err != nil && ctx.Err() == nil {
		s.failures.Add(1)
	}
	return removed, err
}

// backlog is what there is to remove, as far as this node has seen: another one may take its turn.
type backlog struct {
	mu          sync.Mutex
	began, seen time.Time // began is zero if there was an end to it
	unseen      int       // sweeps since seen
}

// After what time and how many sweeps a backlog that was not seen is another one. Where sweeps are rare, nodes may take turns at one.
const (
	backlogGap    = 10 * time.Minute
	backlogSweeps = 2
)

// lasts is told that there is more to remove, and returns since when there is.
func (b *backlog) lasts() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.began.IsZero() || now.Sub(b.seen) > backlogGap && b.unseen > backlogSweeps {
		b.began = now
	}
	b.seen, b.unseen = now, 0
	return now.Sub(b.began)
}

func (b *backlog) sweeps() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unseen++
}

func (b *backlog) ends() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.began = time.Time{}
}

// batches calls remove with the most that it may remove until it removes fewer.
func (b *backlog) batches(ctx context.Context, remove func(ctx context.Context, limit int) (int, error)) error {
	b.sweeps()
	for limit := sweepLeast; ; {
		began := time.Now()
		n, err := batch(ctx, limit, remove)
		took := time.Since(began)
		switch {
		case err != nil && (limit == sweepLeast || ctx.Err() != nil):
			return err
		case err == nil && n < limit:
			if n > 0 { // otherwise another node may be at it
				b.ends()
			}
			return nil
		case err != nil || took > sweepHold:
			limit = sweepLeast
		case took < sweepHold/2:
			limit = min(2*limit, sweepMost)
		}
		rest := sweepRest
		if b.lasts() < sweepCalm {
			rest = max(rest, sweepShare*took)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rest):
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
