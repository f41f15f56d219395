package gormstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// StaleUsers finds users for reads that decide no write.
type StaleUsers interface {
	user.StaleFinder
	user.StaleIDFinder
}

// Standby finds users on a standby, which a proxy chooses. It asks the primary for those that the standby does not have, and while
// the standby does not answer.
type Standby struct {
	standby, primary StaleUsers
	silentUntil      atomic.Int64 // in Unix nanoseconds
}

const (
	// standbyPause is how long a standby is left alone that did not answer.
	standbyPause = time.Second
	// standbyTries is how often a standby is asked before that: when one becomes the primary, the proxy ends its connections, and
	// there may be no other primary to ask (the scenario "killed primary" of tests/failover).
	standbyTries = 2
)

// NewStandby returns the users of a standby with the primary behind it.
func NewStandby(standby, primary StaleUsers) *Standby {
	return &Standby{standby: standby, primary: primary}
}

// StaleByName implements user.StaleFinder.
func (s *Standby) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return s.find(ctx, func(ctx context.Context, users StaleUsers) (user.User, error) { return users.StaleByName(ctx, name) })
}

// StaleByID implements user.StaleIDFinder.
func (s *Standby) StaleByID(ctx context.Context, id user.ID) (user.User, error) {
	return s.find(ctx, func(ctx context.Context, users StaleUsers) (user.User, error) { return users.StaleByID(ctx, id) })
}

func (s *Standby) find(ctx context.Context, ask func(context.Context, StaleUsers) (user.User, error)) (user.User, error) {
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

// askStandby leaves half of the time for the servers that are asked next.
func (s *Standby) askStandby(ctx context.Context, ask func(context.Context, StaleUsers) (user.User, error)) (user.User, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return ask(ctx, s.standby)
}
