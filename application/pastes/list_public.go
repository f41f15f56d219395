package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// PublicPage is how many pastes ListPublic returns at once.
const PublicPage = 50

// ListPublic lists the public pastes of a user.
type ListPublic struct {
	users  user.Finder
	pastes paste.Selector
}

// PublicPastes are some of a user's public pastes.
type PublicPastes struct {
	Owner  user.User
	Pastes []paste.Listed // newest first, at most PublicPage
	More   bool           // whether there are others after the last one
}

// Do returns the user with that name, and the first of the public pastes that stand after a place; the zero Place is before
// all of them. With a tag these are only the pastes that have it. Without user.User.ShowTags there are no tags, and no paste has one.
// It fails with user.ErrNotFound when there is no such user or the profile is private, and with fault.Unavailable when
// the store does not answer.
func (l *ListPublic) Do(ctx context.Context, username, tag string, after paste.Place) (found PublicPastes, err error) {
	name, err := user.ParseName(username)
	if err != nil {
		return PublicPastes{}, user.ErrNotFound
	}
	owner, err := l.users.ByName(ctx, name)
	if err == nil && !owner.PublicProfile {
		err = user.ErrNotFound
	}
	if err != nil {
		return PublicPastes{}, user.Gone(err)
	}
	page, more, err := pageOf(PublicPage, func(limit int) ([]paste.Listed, error) {
		if tag != "" && !owner.ShowTags {
			return nil, nil
		}
		return l.pastes.Select(ctx, owner.ID, paste.Selection{Public: true, Tag: tag, After: after}, limit)
	})
	if err != nil {
		return PublicPastes{}, err
	}
	for i := range page {
		if !owner.ShowTags {
			page[i].Tags = nil
		}
	}
	return PublicPastes{Owner: owner, Pastes: page, More: more}, nil
}
