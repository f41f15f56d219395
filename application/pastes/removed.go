package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

// errRemoved is what pages say of a paste that operators have removed.
var errRemoved = fault.New(fault.Gone, "This paste was removed by the operator.")

// Explain says more to people about a paste that was not found.
type Explain struct{ removals moderation.Teller }

// Do returns a fault.Gone when the paste with that id was removed and had been readable by its link, and otherwise
// cause. It fails with fault.Unavailable when the store does not answer.
func (e *Explain) Do(ctx context.Context, id string, cause error) error {
	if !fault.Is(cause, fault.NotFound) || !ident.Valid(id) {
		return cause
	}
	told, err := e.removals.Told(ctx, paste.ID(id))
	switch {
	case err != nil:
		return err
	case told:
		return errRemoved
	}
	return cause
}
