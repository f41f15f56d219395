package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
)

// CountActive counts the pastes that are active.
type CountActive struct{ pastes paste.Counter }

// Do returns the exact number of active pastes at one instant during the call. It fails with fault.Unavailable when the store
// does not answer.
func (c *CountActive) Do(ctx context.Context) (int64, error) {
	return c.pastes.ActiveCount(ctx)
}
