package dataloader

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// StaleFinder is what a standby is asked: see user.Store.
type StaleFinder interface {
	StaleByName(ctx context.Context, name user.Name) (user.User, error)
	StaleByID(ctx context.Context, id user.ID) (user.User, error)
}

// Standby decorates the users of a primary: it finds users that may be stale on a standby. It asks the primary for
// users that the standby lacks, and while the standby does not answer. A standby that hangs or lags too far behind is
// read only while the primary does not answer.
type Standby struct {
	user.Store // the primary's

	standby     StaleFinder
	lag         func(context.Context) (time.Duration, error)
	silentUntil atomic.Int64 // in Unix nanoseconds
	avoidUntil  atomic.Int64 // in Unix nanoseconds: until then the primary is asked first
	checkedTill atomic.Int64 // in Unix nanoseconds: until then the lag is not asked for again
}

const (
	// maxLag is how old a user from the standby may be.
	maxLag = 10 * time.Second
	// lagInterval is how often the lag is asked for.
	lagInterval = time.Second
	// standbyTime is how long any answer of the standby may take.
	standbyTime = time.Second
	// hangPause is how long the lag of a standby that hangs is not asked for: whoever asks waits for standbyTime.
	hangPause = 2 * time.Second
	// standbyPause is how long a standby that did not answer is not asked again.
	standbyPause = time.Second
	// standbyTries is how often a standby is asked before that: during a failover the proxy closes connections to the
	// standby that becomes the primary, and no primary may answer yet (the scenario "killed primary" of tests/failover).
	standbyTries = 2
)

// NewStandby returns the users of a standby with the primary behind it. lag tells how far the standby is behind.
func NewStandby(standby StaleFinder, lag func(context.Context) (time.Duration, error), primary user.Store) *Standby {
	return &Standby{Store: primary, standby: standby, lag: lag}
}

// checkLag finds out whether the standby hangs or lags too far behind. One caller asks, and the others do not wait for
// the answer: what they read is at most lagInterval older.
func (s *Standby) checkLag(ctx context.Context) {
	until, now := s.checkedTill.Load(), time.Now()
	if now.UnixNano() < until || !s.checkedTill.CompareAndSwap(until, now.Add(lagInterval).UnixNano()) {
		return
	}
	inTime, cancel := context.WithTimeout(ctx, standbyTime)
	defer cancel()
	switch lag, err := s.lag(inTime); {
	case err != nil && inTime.Err() != nil && ctx.Err() == nil: // it hangs
		s.avoid(hangPause)
		s.checkedTill.Store(time.Now().Add(hangPause).UnixNano())
	case err != nil: // the read that follows fails, too
	case lag > maxLag:
		s.avoid(lagInterval)
	default:
		s.avoidUntil.Store(0)
	}
}

// avoid makes find ask the primary first until the check that follows after the interval has ended.
func (s *Standby) avoid(interval time.Duration) {
	s.avoidUntil.Store(time.Now().Add(interval + lagInterval + standbyTime).UnixNano())
}

// StaleByName implements user.Store.
func (s *Standby) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return s.find(ctx, func(ctx context.Context, users StaleFinder) (user.User, error) {
		return users.StaleByName(ctx, name)
	})
}

// StaleByID implements user.Store.
func (s *Standby) StaleByID(ctx context.Context, id user.ID) (user.User, error) {
	return s.find(ctx, func(ctx context.Context, users StaleFinder) (user.User, error) { return users.StaleByID(ctx, id) })
}

func (s *Standby) find(ctx context.Context, ask func(context.Context,
	StaleFinder) (user.User, error)) (user.User, error) {
	s.checkLag(ctx)
	if time.Now().UnixNano() < s.avoidUntil.Load() {
		u, err := askWithin(ctx, unlimited, s.Store, ask)
		if !fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
			return u, err
		}
		s.avoidUntil.Store(0) // until the next check
	}
	for try := 1; time.Now().UnixNano() >= s.silentUntil.Load(); try++ {
		u, err := askWithin(ctx, standbyTime, s.standby, ask)
		if err == nil || ctx.Err() != nil {
			return u, err
		}
		if fault.Is(err, fault.NotFound) {
			break
		}
		if try >= standbyTries {
			s.silentUntil.Store(time.Now().Add(standbyPause).UnixNano())
		}
	}
	return ask(ctx, s.Store)
}

const unlimited time.Duration = math.MaxInt64

// askWithin asks a server within the time given, and leaves half of the remaining time for the next server.
func askWithin(
	ctx context.Context, limit time.Duration, users StaleFinder,
	ask func(context.Context, StaleFinder) (user.User, error),
) (user.User, error) {
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return ask(ctx, users)
}
