package paste

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestQuota(t *testing.T) {
	t.Parallel()
	for _, quota := range []Quota{
		{Pastes: 5, Window: time.Hour}, {Pastes: 1, Window: time.Hour}, {Pastes: 7, Window: time.Hour}, {Pastes: 1_000_000, Window: time.Hour},
	} {
		var full time.Duration
		for i := range quota.Pastes {
			used, err := quota.Take(full)
			if err != nil || used.Left() != quota.Pastes-i-1 {
				t.Fatalf("%+v, paste %d: got %d left, error %v, want %d", quota, i+1, used.Left(), err, quota.Pastes-i-1)
			}
			full = used.Full
		}
		_, err := quota.Take(full)
		refused, ok := errors.AsType[*QuotaError](err)
		if !ok || !fault.Is(err, fault.Exhausted) || refused.Usage.Retry() != quota.Interval() || refused.Usage.Left() != 0 {
			t.Fatalf("%+v: got %v for one more, want it refused for %v", quota, err, quota.Interval())
		}
		if full > quota.Window || full < quota.Window-time.Second {
			t.Errorf("%+v: got all of it again after %v, want after the window", quota, full)
		}
		if _, err := quota.Take(full - quota.Interval() + time.Microsecond); err == nil {
			t.Errorf("%+v: got no error a microsecond too early, want one", quota)
		}
		if used, err := quota.Take(full - quota.Interval()); err != nil || used.Retry() != quota.Interval() {
			t.Errorf("%+v: got %+v, error %v when that time has passed, want one more", quota, used, err)
		}
		if used, err := quota.Take(full + 1000*time.Hour); err != nil || used.Full != quota.Interval() {
			t.Errorf("%+v: got %+v, error %v after the clock was put back, want one used", quota, used, err)
		}
		if used, err := quota.Take(-time.Hour); err != nil || used.Full != quota.Interval() {
			t.Errorf("%+v: got %+v, error %v for who was away for long, want one used", quota, used, err)
		}
	}
}

// TestNoQuota wants the zero Quota to bound nothing.
func TestNoQuota(t *testing.T) {
	t.Parallel()
	used, err := Quota{}.Take(0)
	if err != nil || used.Left() != math.MaxInt || used.Retry() != 0 || used.Full != 0 {
		t.Errorf("got %+v with %d left, error %v, want no bound", used, used.Left(), err)
	}
}
