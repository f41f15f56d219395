package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/user"
)

// List lists all users.
type List struct{ users user.Lister }

// listPage is how many users are read at once.
const listPage = 500

// Do calls visit with every user in the order of their names, ignoring case. It reads a page at a time, so that a slow visit
// holds nothing in the store. An error of visit ends the list and is returned; otherwise it fails with fault.Unavailable when
// the store does not answer.
func (l *List) Do(ctx context.Context, visit func(user.User) error) error {
	var last user.Name
	for {
		page, err := l.users.Users(ctx, last, listPage)
		if err != nil {
			return err
		}
		for _, found := range page {
			if err := visit(found); err != nil {
				return err
			}
			last = found.Name
		}
		if len(page) < listPage {
			return nil
		}
	}
}
