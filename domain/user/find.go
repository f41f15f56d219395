package user

import (
	"context"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

// Find returns the user that an operator names: by name or, if no user has that name, by id. The prefixes name: and id: decide,
// because a name can be another user's id. It fails with fault.Invalid when the name breaks a rule, with ErrNotFound when there
// is no such user, and with fault.Unavailable when the store does not answer.
func Find(ctx context.Context, users Finder, reference string) (User, error) {
	if id, ok := strings.CutPrefix(reference, "id:"); ok {
		found, err := users.ByID(ctx, ID(id))
		return found, Gone(err)
	}
	name, only := strings.CutPrefix(reference, "name:")
	parsed, unnamed := ParseName(name)
	if unnamed == nil {
		found, err := users.ByName(ctx, parsed)
		if only || !fault.Is(err, fault.NotFound) {
			return found, Gone(err)
		}
	} else if only {
		return User{}, unnamed
	}
	found, err := users.ByID(ctx, ID(name))
	if fault.Is(err, fault.NotFound) && unnamed != nil {
		return User{}, unnamed
	}
	return found, Gone(err)
}
