package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/trace"
)

// CountActive counts the pastes that are active.
type CountActive struct{ pastes paste.Counter }

// Do returns the exact number of active pastes at one instant between question and answer. It fails with
// fault.Unavailable when the store does not answer.
func (c *CountActive) Do(ctx context.Context) (_ int64, err error) {
	ctx, end := trace.Start(ctx, "pastes.CountActive")
	defer func() { end(err) }()
	return c.pastes.ActiveCount(ctx)
}
