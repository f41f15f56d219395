package gormstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Standby finds users on a standby. It falls back to the primary for users that the standby lacks, and while the standby does
// not answer.
type Standby struct {
	standby, primary user.StaleFinder
	silentUntil      atomic.Int64 // in Unix nanoseconds
}

const (
	// standbyPause is how long a standby that did not answer is not asked again.
	standbyPause = time.Second
	// standbyTries is how often a standby is asked before that: during a failover the proxy closes connections to the standby that
	// becomes the primary, and no primary may answer yet (the scenario "killed primary" of tests/failover).
	standbyTries = 2
)

// NewStandby returns the users of a standby with the primary behind it.
func NewStandby(standby, primary user.StaleFinder) *Standby {
	return &Standby{standby: standby, primary: primary}
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
	if time.Now().UnixNano() < s.silentUntil.Load() {
		return ask(ctx, s.primary)
	}
	for range standbyTries {
		found, err := s.askStandby(ctx, ask)
		if err == nil || ctx.Err() != nil {
			return found, err
		}
		if fault.Is(err, fault.NotFound) {
			return ask(ctx, s.primary)
		}
	}
	s.silentUntil.Store(time.Now().Add(standbyPause).UnixNano())
	return ask(ctx, s.primary)
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
