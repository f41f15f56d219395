// Package pastes has the use cases about pastes.
package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// ListOwn lists the pastes of a signed-in user.
type ListOwn struct {
	tokens token.Finder
	pastes paste.OwnerLister
	uses   token.UseRecorder
	now    func() time.Time
}

// NewListOwn returns the use case.
func NewListOwn(tokens token.Finder, pastes paste.OwnerLister, uses token.UseRecorder, now func() time.Time) *ListOwn {
	return &ListOwn{tokens: tokens, pastes: pastes, uses: uses, now: now}
}

// Do calls visit with the id of each active paste of the secret's owner, private ones included, newest
// first. The slice is only valid during the call; an error of visit ends the walk and is returned.
// It fails with fault.Unauthenticated when the secret is empty, malformed, unknown, expired or revoked,
// and with fault.Unavailable when the store does not answer, possibly after some calls of visit.
func (l *ListOwn) Do(ctx context.Context, presented string, visit func(id []byte) error) error {
	secret, err := token.ParseSecret(presented)
	if err != nil {
		return token.Rejected()
	}
	hash := secret.Hash()
	found, err := l.tokens.ByHash(ctx, hash)
	if err != nil {
		return token.LookupFault(err)
	}
	now := l.now()
	if err := found.Verify(hash, now); err != nil {
		return err
	}
	l.uses.RecordUse(found.ID, now)
	return l.pastes.EachActiveID(ctx, found.Owner, visit)
}

// CountActive counts the pastes that are active.
type CountActive struct{ pastes paste.Counter }

// NewCountActive returns the use case.
func NewCountActive(pastes paste.Counter) *CountActive { return &CountActive{pastes: pastes} }

// Do returns the exact number of active pastes at one instant between question and answer. It fails with
// fault.Unavailable when the store does not answer.
func (c *CountActive) Do(ctx context.Context) (int64, error) { return c.pastes.ActiveCount(ctx) }

// Sweep removes expired pastes. No answer depends on it: what is active is judged by the clock.
type Sweep struct {
	pastes paste.ExpiredRemover
	grace  time.Duration
}

// Sweeping works in batches small enough not to hold a lock that a request would notice, with a rest
// between two of them that leaves the database to the requests.
const (
	sweepBatch = 500
	sweepRest  = 20 * time.Millisecond
	// sweepPatience bounds one batch, so that a database that hangs keeps neither a connection nor the sweeper for good.
	sweepPatience = 10 * time.Second
)

// NewSweep returns the use case. What it removes has been expired for grace: longer than any request may
// last and than clocks are put back, so that nothing goes which an answer that is under way counts.
func NewSweep(pastes paste.ExpiredRemover, grace time.Duration) *Sweep {
	return &Sweep{pastes: pastes, grace: grace}
}

// Do removes what has expired, batch by batch, until nothing is left or another node is at it, and
// returns how many pastes it removed. It can be cancelled at any instant: each batch is complete or undone.
func (s *Sweep) Do(ctx context.Context) (removed int, err error) {
	for {
		n, err := s.batch(ctx)
		removed += n
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
