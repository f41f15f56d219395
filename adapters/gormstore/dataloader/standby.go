package dataloader

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Standby decorates the users of a primary: it finds users that may be stale on a standby. It falls back to the primary for users that
// the standby lacks, and while the standby does not answer.
type Standby struct {
	UserStore // the primary's

	standby     user.StaleFinder
	silentUntil atomic.Int64 // in Unix nanoseconds
}

const (
	// standbyPause is how long a standby that did not answer is not asked again.
	standbyPause = time.Second
	// standbyTries is how often a standby is asked before that: during a failover the proxy closes connections to the standby that
	// becomes the primary, and no primary may answer yet (the scenario "killed primary" of tests/failover).
	standbyTries = 2
)

// NewStandby returns the users of a standby with the primary behind it.
func NewStandby(standby user.StaleFinder, primary UserStore) *Standby {
	return &Standby{UserStore: primary, standby: standby}
}

// StaleByName implements user.StaleFinder.
func (s *Standby) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return s.find(ctx, func(ctx context.Context, users user.StaleFinder) (user.User, error) {
		return users.StaleByName(ctx, name)
	})
}

// StaleByID implements user.StaleFinder.
func (s *Standby) StaleByID(ctx context.Context, id user.ID) (user.User, error) {
	return s.find(ctx, func(ctx context.Context, users user.StaleFinder) (user.User, error) { return users.StaleByID(ctx, id) })
}

func (s *Standby) find(ctx context.Context, ask func(context.Context, user.StaleFinder) (user.User, error)) (user.User, error) {
	for try := 1; time.Now().UnixNano() >= s.silentUntil.Load(); try++ {
		found, err := s.askStandby(ctx, ask)
		if err == nil || ctx.Err() != nil {
			return found, err
		}
		if fault.Is(err, fault.NotFound) {
			break
		}
		if try >= standbyTries {
			s.silentUntil.Store(time.Now().Add(standbyPause).UnixNano())
		}
	}
	return ask(ctx, s.UserStore)
}

// askStandby leaves half of the remaining time for the next server.
func (s *Standby) askStandby(ctx context.Context, ask func(context.Context, user.StaleFinder) (user.User, error)) (user.User, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return ask(ctx, s.standby)
}
