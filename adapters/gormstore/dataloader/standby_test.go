package dataloader

import (
	"context"
	"sync/atomic"
	"testing"
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
			found, err := standby.StaleByName(t.Context(), user.Name{})
			if err == nil && found.AvatarURL == from {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("got %q and %v for a minute, want the user of the %s", found.AvatarURL, err, from)
			}
		}
	}
	want("standby")
	lag.Store(int64(maxLag + 1))
	want("primary")
	for range 100 { // it stays so
		if found, err := standby.StaleByName(t.Context(), user.Name{}); err != nil || found.AvatarURL != "primary" {
			t.Fatalf("got %q and %v, want the user of the primary", found.AvatarURL, err)
		}
	}
	down.Store(true)
	for range 100 {
		if found, err := standby.StaleByName(t.Context(), user.Name{}); err != nil || found.AvatarURL != "standby" {
			t.Fatalf("got %q and %v without a primary, want the user of the standby", found.AvatarURL, err)
		}
	}
	down.Store(false)
	want("primary")
	lag.Store(int64(maxLag - 1))
	want("standby")
}
