package paste

import (
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestActiveAt(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for expiry, active := range map[time.Time]bool{{}: true, now.Add(1): true, now: false, now.Add(-1): false} {
		if (Paste{ExpiresAt: expiry}).ActiveAt(now) != active {
			t.Errorf("expiry %v, now %v: got active %v, want %v", expiry, now, !active, active)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := (Paste{ID: "x"}).Validate(); err != nil {
		t.Error(err)
	}
	for _, wrong := range []Paste{{}, {ID: "a b"}, {ID: "x", Owner: "a b"}} {
		if !fault.Is(wrong.Validate(), fault.Invalid) {
			t.Errorf("%+v: got %v, want %v", wrong, wrong.Validate(), fault.Invalid)
		}
	}
}
