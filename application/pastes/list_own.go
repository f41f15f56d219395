package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
)

// ListOwn lists the pastes of a signed-in user.
type ListOwn struct {
	pastes interface {
		paste.HeldIDFinder
		paste.ActiveIDLister
	}
	signIn *token.Authenticator
}

// Do calls visit with the id of each active paste of the secret's owner, private ones included, newest
// first. An error of visit ends the walk and is returned.
// It fails with fault.Unauthenticated when the secret is empty, malformed, unknown, expired or revoked,
// and with fault.Unavailable when the store does not answer, possibly after some calls of visit.
func (l *ListOwn) Do(ctx context.Context, presented string, visit func(paste.ID) error) (err error) {
	ctx, end := trace.Start(ctx, "pastes.ListOwn")
	defer func() { end(err) }()
	var (
		ids []paste.ID
		all bool
	)
	holder, err := l.signIn.Authenticate(presented, func(hash token.Hash) (found token.Token, err error) {
		found, ids, all, err = l.pastes.HeldIDs(ctx, hash) // most users have few pastes
		return found, err
	})
	switch {
	case err != nil:
		return err
	case !all:
		return l.pastes.EachActiveID(ctx, holder.Owner, visit)
	}
	for _, id := range ids {
		if err := visit(id); err != nil {
			return err
		}
	}
	return nil
}
