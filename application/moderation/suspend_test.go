package moderation

import (
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
)

// TestBlockInThePast checks that a negative time, which only embedders can pass, does not block for good.
func TestBlockInThePast(t *testing.T) {
	t.Parallel()
	block := New(nil, nil, nil, nil, nil, time.Now).Block
	if got, err := block.Do(t.Context(), audit.Operator(), "192.0.2.1", "spam", -time.Hour); !fault.Is(err,
		fault.Invalid) {
		t.Errorf("got %+v, %v, want fault.Invalid", got, err)
	}
}
