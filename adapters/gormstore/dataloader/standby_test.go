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

// TestStandbyThatHangs wants one look-up in a while to wait for a standby that hangs, and the others to be answered by
// the primary at once.
func TestStandbyThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lookups = 20
		standby := NewStandby(hanging{}, func(ctx context.Context) (time.Duration, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}, answering{mark: "primary"})
		began := time.Now()
		for range lookups {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			u, err := standby.StaleByName(ctx, user.Name{})
			cancel()
			if err != nil || u.AvatarURL != "primary" {
				t.Fatalf("got %q and %v, want the user of the primary", u.AvatarURL, err)
			}
		}
		if waited := time.Since(began); waited != lagTime {
			t.Errorf("%d look-ups took %v, want %v: the first waits, and the others do not", lookups, waited, lagTime)
		}
		standby.standby = answering{mark: "standby"}
		standby.lag = func(context.Context) (time.Duration, error) { return 0, nil }
		time.Sleep(hangPause)
		if u, err := standby.StaleByName(t.Context(), user.Name{}); err != nil || u.AvatarURL != "standby" {
			t.Errorf("got %q and %v after it answers again, want the user of the standby", u.AvatarURL, err)
		}
	})
}
