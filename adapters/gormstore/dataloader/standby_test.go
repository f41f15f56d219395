package dataloader

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// answering finds every user, with its own mark as the avatar.
type answering struct {
	user.Store

	mark string
	down *atomic.Bool // or nil
}

func (a answering) StaleByName(context.Context, user.Name) (user.User, error) {
	if a.down != nil && a.down.Load() {
		return user.User{}, fault.New(fault.Unavailable, "It does not answer.")
	}
	return user.User{AvatarURL: a.mark}, nil
}

// TestStandbyThatLags wants no user of a standby while that is too far behind and the primary answers.
func TestStandbyThatLags(t *testing.T) {
	t.Parallel()
	var (
		lag  atomic.Int64
		down atomic.Bool
	)
	standby := NewStandby(answering{mark: "standby"}, func(context.Context) (time.Duration, error) {
		return time.Duration(lag.Load()), nil
	}, answering{mark: "primary", down: &down})
	want := func(from string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			u, err := standby.StaleByName(t.Context(), user.Name{})
			if err == nil && u.AvatarURL == from {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("got %q and %v for a minute, want the user of the %s", u.AvatarURL, err, from)
			}
		}
	}
	want("standby")
	lag.Store(int64(maxLag + 1))
	want("primary")
	for range 100 { // it stays so
		if u, err := standby.StaleByName(t.Context(), user.Name{}); err != nil || u.AvatarURL != "primary" {
			t.Fatalf("got %q and %v, want the user of the primary", u.AvatarURL, err)
		}
	}
	down.Store(true)
	for range 100 {
		if u, err := standby.StaleByName(t.Context(), user.Name{}); err != nil || u.AvatarURL != "standby" {
			t.Fatalf("got %q and %v without a primary, want the user of the standby", u.AvatarURL, err)
		}
	}
	down.Store(false)
	want("primary")
	lag.Store(int64(maxLag - 1))
	want("standby")
}

// hanging is a standby that answers nothing until the caller has no more time.
type hanging struct{ answering }

func (hanging) StaleByName(ctx context.Context, _ user.Name) (user.User, error) {
	<-ctx.Done()
	return user.User{}, fault.Wrap(fault.Unavailable, "It does not answer.", ctx.Err())
}

// TestStandbyThatHangs wants a look-up to notice a standby that hangs, and the others to be answered by the primary at
// once.
func TestStandbyThatHangs(t *testing.T) {
	t.Parallel()
	answers := func(context.Context) (time.Duration, error) { return 0, nil }
	hangs := func(ctx context.Context) (time.Duration, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	for name, row := range map[string]struct {
		checked bool // just before it hangs
		waits   time.Duration
	}{
		"before a check": {false, standbyTime},
		"after a check":  {true, (standbyTries + 1) * standbyTime}, // then the next check
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				standby := NewStandby(answering{mark: "standby"}, answers, answering{mark: "primary"})
				want := func(from string) {
					t.Helper()
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					if u, err := standby.StaleByName(ctx, user.Name{}); err != nil || u.AvatarURL != from {
						t.Errorf("got %q and %v, want the user of the %s", u.AvatarURL, err, from)
					}
				}
				if row.checked {
					want("standby")
				}
				standby.standby, standby.lag = hanging{}, hangs
				began := time.Now()
				for range 20 {
					want("primary")
				}
				if waited := time.Since(began); waited != row.waits {
					t.Errorf("20 look-ups took %v, want %v for the first and nothing for the others", waited, row.waits)
				}
				standby.standby, standby.lag = answering{mark: "standby"}, answers
				time.Sleep(hangPause)
				want("standby")
			})
		})
	}
}
