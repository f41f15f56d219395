package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// List lists all users.
type List struct{ users user.Lister }

// Do calls visit with every user in the order of their names, whatever the case. An error of visit ends
// the walk and is returned; otherwise it fails with fault.Unavailable when the store does not answer.
func (l *List) Do(ctx context.Context, visit func(user.User) error) (err error) {
	ctx, end := trace.Start(ctx, "users.List")
	defer func() { end(err) }()
	return l.users.Each(ctx, visit)
}
