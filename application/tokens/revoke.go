package tokens

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

var errNoToken = fault.New(fault.NotFound, "There is no token with that id.")

// Revoke makes a token invalid.
type Revoke struct {
	tokens token.Revoker
	now    func() time.Time
}

// Do makes the token with that id invalid from now on. It fails with fault.NotFound when there is none
// and with fault.Unavailable when the store does not answer.
func (r *Revoke) Do(ctx context.Context, id string) error {
	err := r.tokens.Revoke(audit.Note(ctx, "token.revoke", id, ""), token.ID(id), r.now())
	if fault.Is(err, fault.NotFound) {
		return errNoToken
	}
	return err
}
