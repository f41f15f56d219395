package paste

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// TestClientAt wants one quota for the addresses that a client can choose from.
func TestClientAt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Client{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::",
		"fe80::1%eth0": "fe80::",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := ClientAt(netip.MustParseAddr(text)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if got := ClientAt(netip.Addr{}); got != "" {
		t.Errorf("no address: got %q, want the empty client", got)
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	for _, quota := range []Quota{
		{Pastes: 5, Window: time.Hour}, {Pastes: 1, Window: time.Hour}, {Pastes: 7, Window: time.Hour},
		{Pastes: 1_000_000, Window: time.Hour},
	} {
		var full time.Duration
		for i := range quota.Pastes {
			var err error
			if full, err = quota.Take(full); err != nil || full != time.Duration(i+1)*quota.Interval() {
				t.Fatalf("%+v, paste %d: got %v, error %v, want an interval for each", quota, i+1, full, err)
			}
			if left := (Usage{quota, full - time.Microsecond}).Left(); left != quota.Pastes-1-i {
				t.Fatalf("%+v, paste %d: got %d left, want %d", quota, i+1, left, quota.Pastes-1-i)
			}
		}
		_, err := quota.Take(full)
		refused, ok := errors.AsType[*QuotaError](err)
		if !ok || !fault.Is(err, fault.Exhausted) || refused.Retry != quota.Interval() || refused.Quota != quota {
			t.Fatalf("%+v: got %v for one more, want it refused for %v", quota, err, quota.Interval())
		}
		if used := refused.Usage(); used.Full != full || used.Left() != 0 {
			t.Errorf("%+v: got %+v and %d left of the refused one, want %v and none", quota, used, used.Left(), full)
		}
		if full > quota.Window || full < quota.Window-time.Second {
			t.Errorf("%+v: got all of it again after %v, want after the window", quota, full)
		}
		if _, err := quota.Take(full - quota.Interval() + time.Microsecond); err == nil {
			t.Errorf("%+v: got no error a microsecond too early, want one", quota)
		}
		if used, err := quota.Take(full - quota.Interval()); err != nil || used != full {
			t.Errorf("%+v: got %+v, error %v when that time has passed, want one more", quota, used, err)
		}
		if used, err := quota.Take(full + 1000*time.Hour); err != nil || used != quota.Interval() {
			t.Errorf("%+v: got %+v, error %v after the clock was put back, want one used", quota, used, err)
		}
		if used, err := quota.Take(-time.Hour); err != nil || used != quota.Interval() {
			t.Errorf("%+v: got %+v, error %v for who was away for long, want one used", quota, used, err)
		}
	}
}

// TestNoQuota wants the zero Quota to bound nothing.
func TestNoQuota(t *testing.T) {
	t.Parallel()
	if left := (Usage{}).Left(); left != 0 {
		t.Errorf("got %d left without a quota, want none", left)
	}
	if used, err := (Quota{}).Take(0); err != nil || used != 0 {
		t.Errorf("got %v, error %v, want no bound", used, err)
	}
}
