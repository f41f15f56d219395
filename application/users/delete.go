package users

import (
	"context"
	"fmt"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Delete removes a user.
type Delete struct{ users user.Deleter }

// Do removes the user with tokens, stars and pastes; anonymize keeps the pastes, see user.Deleter. A name can move to another
// user meanwhile, so both the id and the name must match. Otherwise Do fails with fault.NotFound and removes nothing. It fails
// with fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, shown user.User, anonymize bool) error {
	var kept *user.Kept
	if anonymize {
		kept = &user.Kept{}
	}
	err := d.users.Delete(audit.Note(ctx, "user.delete", audit.User(shown), ""), shown.ID, shown.Name, kept)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.NotFound, fmt.Sprintf("The user %s was renamed or deleted meanwhile: nothing was deleted.", shown.Name))
	}
	return err
}
