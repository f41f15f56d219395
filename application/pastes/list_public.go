package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// PublicPage is how many pastes ListPublic returns at once.
const PublicPage = 50

// ListPublic lists the pastes that a user shows to everybody.
type ListPublic struct {
	users  user.Finder
	pastes paste.PublicLister
}

// PublicPastes are some of a user's public pastes.
type PublicPastes struct {
	Owner  user.User
	Pastes []paste.Listed // newest first, at most PublicPage
	More   bool           // whether there are others after the last one
}

// Do returns the user with that name, and the first of the public pastes that stand after a place; the zero Place is before
// all of them. It fails with user.ErrNotFound when there is no such user or the profile is private, and with fault.Unavailable when
// the store does not answer.
func (l *ListPublic) Do(ctx context.Context, username string, after paste.Place) (found PublicPastes, err error) {
	ctx, end := trace.Start(ctx, "pastes.ListPublic")
	defer func() { end(err) }()
	owner, err := user.Find(ctx, l.users, username)
	if fault.Is(err, fault.Invalid) || err == nil && !owner.PublicProfile {
		err = user.ErrNotFound
	}
	if err != nil {
		return PublicPastes{}, err
	}
	page, more, err := pageOf(PublicPage, func(limit int) ([]paste.Listed, error) {
		return l.pastes.PublicByOwner(ctx, owner.ID, after, limit)
	})
	if err != nil {
		return PublicPastes{}, err
	}
	return PublicPastes{Owner: owner, Pastes: page, More: more}, nil
}
