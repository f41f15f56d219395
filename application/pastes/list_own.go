package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
)

// ListOwn lists the pastes of a signed-in user.
type ListOwn struct {
	tokens token.Finder
	pastes paste.ActiveIDLister
	signIn *token.Authenticator
}

// Do calls visit with the id of each active paste of the secret's owner, private ones included, newest
// first. An error of visit ends the walk and is returned.
// It fails with fault.Unauthenticated when the secret is empty, malformed, unknown, expired or revoked,
// and with fault.Unavailable when the store does not answer, possibly after some calls of visit.
func (l *ListOwn) Do(ctx context.Context, presented string, visit func(paste.ID) error) (err error) {
	ctx, end := trace.Start(ctx, "pastes.ListOwn")
	defer func() { end(err) }()
	found, err := l.signIn.Authenticate(presented, func(hash token.Hash) (token.Token, error) { return l.tokens.ByHash(ctx, hash) })
	if err != nil {
		return err
	}
	return l.pastes.EachActiveID(ctx, found.Owner, visit)
}
