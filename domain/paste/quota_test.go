package paste

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// TestClientAt checks that all addresses that one client can choose from are one client.
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
			if got := (Usage{quota, full - time.Microsecond}).Left(); got != quota.Pastes-1-i {
				t.Fatalf("%+v, paste %d: got %d left, want %d", quota, i+1, got, quota.Pastes-1-i)
			}
		}
		_, err := quota.Take(full)
		quotaErr, ok := errors.AsType[*QuotaError](err)
		if !ok || !fault.Is(err, fault.Exhausted) || quotaErr.Retry != quota.Interval() || quotaErr.Quota != quota {
			t.Fatalf("%+v: got %v for one more, want a QuotaError with a retry in %v", quota, err, quota.Interval())
		}
		if usage := quotaErr.Usage(); usage.Full != full || usage.Left() != 0 {
			t.Errorf("%+v: got %+v with %d left, want %v and none", quota, usage, usage.Left(), full)
		}
		if full > quota.Window || full < quota.Window-time.Second {
			t.Errorf("%+v: got the whole quota back after %v, want the window", quota, full)
		}
		if _, err := quota.Take(full - quota.Interval() + time.Microsecond); err == nil {
			t.Errorf("%+v: got no error a microsecond too early, want one", quota)
		}
		if got, err := quota.Take(full - quota.Interval()); err != nil || got != full {
			t.Errorf("%+v: got %v, error %v an interval later, want one more", quota, got, err)
		}
		if got, err := quota.Take(full + 1000*time.Hour); err != nil || got != quota.Interval() {
			t.Errorf("%+v: got %v, error %v after the clock was put back, want one used", quota, got, err)
		}
		if got, err := quota.Take(-time.Hour); err != nil || got != quota.Interval() {
			t.Errorf("%+v: got %v, error %v after a long absence, want one used", quota, got, err)
		}
	}
}

// TestNoQuota checks that the zero Quota means no limit.
func TestNoQuota(t *testing.T) {
	t.Parallel()
	if got := (Usage{}).Left(); got != 0 {
		t.Errorf("got %d left without a quota, want none", got)
	}
	if got, err := (Quota{}).Take(0); err != nil || got != 0 {
		t.Errorf("got %v, error %v, want no limit", got, err)
	}
}
