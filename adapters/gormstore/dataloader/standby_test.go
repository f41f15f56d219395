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

// markedStore finds every user, with its mark as the avatar.
type markedStore struct {
	user.Store

	mark string
	down *atomic.Bool // or nil
}

func (m markedStore) StaleByName(context.Context, user.Name) (user.User, error) {
	if m.down != nil && m.down.Load() {
		return user.User{}, fault.New(fault.Unavailable, "It does not answer.")
	}
	return user.User{AvatarURL: m.mark}, nil
}

// TestStandbyThatLags checks that reads go to the primary while the standby is too far behind, unless the primary is
// down.
func TestStandbyThatLags(t *testing.T) {
	t.Parallel()
	var (
		lag  atomic.Int64
		down atomic.Bool
	)
	standby := NewStandby(markedStore{mark: "standby"}, func(context.Context) (time.Duration, error) {
		return time.Duration(lag.Load()), nil
	}, markedStore{mark: "primary", down: &down})
	wantFrom := func(from string) {
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
	wantFrom("standby")
	lag.Store(int64(maxLag + 1))
	wantFrom("primary")
	for range 100 { // and it stays so
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
	wantFrom("primary")
	lag.Store(int64(maxLag - 1))
	wantFrom("standby")
}

// hangingStore is a standby that does not answer before the deadline.
type hangingStore struct{ markedStore }

func (hangingStore) StaleByName(ctx context.Context, _ user.Name) (user.User, error) {
	<-ctx.Done()
	return user.User{}, fault.Wrap(fault.Unavailable, "It does not answer.", ctx.Err())
}

// TestStandbyThatHangs checks that one look-up notices a standby that hangs, and that the primary answers the others at
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
				standby := NewStandby(markedStore{mark: "standby"}, answers, markedStore{mark: "primary"})
				wantFrom := func(from string) {
					t.Helper()
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					if u, err := standby.StaleByName(ctx, user.Name{}); err != nil || u.AvatarURL != from {
						t.Errorf("got %q and %v, want the user of the %s", u.AvatarURL, err, from)
					}
				}
				if row.checked {
					wantFrom("standby")
				}
				standby.standby, standby.lag = hangingStore{}, hangs
				start := time.Now()
				for range 20 {
					wantFrom("primary")
				}
				if got := time.Since(start); got != row.waits {
					t.Errorf("got %v for 20 look-ups, want %v for the first and nothing for the others", got, row.waits)
				}
				standby.standby, standby.lag = markedStore{mark: "standby"}, answers
				time.Sleep(hangPause)
				wantFrom("standby")
			})
		})
	}
}
