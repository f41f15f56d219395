package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
)

// OwnPage is how many pastes BrowseOwn returns at once.
const OwnPage = 50

// BrowseOwn lists the pastes of a signed-in user page by page, with what tells one from another.
type BrowseOwn struct {
	tokens token.Finder
	pastes paste.TitleLister
	signIn *token.Authenticator
}

// OwnPastes are some of a user's pastes.
type OwnPastes struct {
	Pastes []paste.Listed // newest first, at most OwnPage
	More   bool           // whether there are others after the last one
}

// Do returns the first of the active pastes of the secret's owner that stand after a place, private ones included, and those
// that PasteMyst encrypted not; the zero Place is before all of them.
// It fails with fault.Unauthenticated when the secret is empty, malformed, unknown, expired or revoked,
// and with fault.Unavailable when the store does not answer.
func (b *BrowseOwn) Do(ctx context.Context, presented string, after paste.Place) (_ OwnPastes, err error) {
	ctx, end := trace.Start(ctx, "pastes.BrowseOwn")
	defer func() { end(err) }()
	found, err := b.signIn.Authenticate(presented, func(hash token.Hash) (token.Token, error) { return b.tokens.ByHash(ctx, hash) })
	if err != nil {
		return OwnPastes{}, err
	}
	page, more, err := pageOf(OwnPage, func(limit int) ([]paste.Listed, error) {
		return b.pastes.TitlesByOwner(ctx, found.Owner, after, limit)
	})
	return OwnPastes{Pastes: page, More: more}, err
}
