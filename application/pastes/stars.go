package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Star adds a paste to a user's stars.
type Star struct {
	users  user.Finder
	pastes paste.Starrer
}

// Do adds the paste to the end of the stars of the user with that name; a second time changes nothing.
// The paste need not exist yet: the star shows while it does. It returns the user.
//
// It fails with fault.NotFound when there is no such user, with fault.Invalid when the name or the id
// breaks a rule, and with fault.Unavailable when the store does not answer.
func (s *Star) Do(ctx context.Context, username, id string) (user.User, error) {
	starrer, err := user.Find(ctx, s.users, username)
	if err != nil {
		return user.User{}, err
	}
	if !ident.Valid(id) {
		return user.User{}, fault.New(fault.Invalid, "The paste id is not 1 to 64 letters, digits, '-' or '_'.")
	}
	return starrer, user.Gone(s.pastes.Star(ctx, starrer.ID, paste.ID(id)))
}

// Unstar takes a paste out of a user's stars.
type Unstar struct {
	users  user.Finder
	pastes paste.Unstarrer
}

// Do takes the paste out of the stars of the user with that name, and returns the user. It fails with fault.NotFound when
// there is no such user or star, with fault.Invalid when the name breaks a rule, and with
// fault.Unavailable when the store does not answer.
func (u *Unstar) Do(ctx context.Context, username, id string) (user.User, error) {
	starrer, err := user.Find(ctx, u.users, username)
	if err != nil {
		return user.User{}, err
	}
	err = u.pastes.Unstar(ctx, starrer.ID, paste.ID(id))
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "The user has no star for a paste with that id.")
	}
	return starrer, err
}

// StarSeen lets signed-in users star pastes that they may read.
type StarSeen struct {
	read  *Read
	stars stars
}

// stars is what StarSeen needs of a store.
type stars interface {
	paste.Starrer
	paste.Unstarrer
}

// Do adds the paste to the viewer's stars, or takes it out of them; a second time changes nothing. A star can be taken back from a
// paste that is gone.
//
// It fails with token.Rejected when the viewer has not signed in or was deleted meanwhile; as Read.Do does when the paste is to be
// starred; and with fault.Unavailable when the store does not answer.
func (s *StarSeen) Do(ctx context.Context, viewer token.Viewer, id string, starred bool) error {
	if err := mayOwn(viewer, id); err != nil {
		return err
	}
	if !starred {
		if err := s.stars.Unstar(ctx, viewer.User.ID, paste.ID(id)); !fault.Is(err, fault.NotFound) {
			return err
		}
		return nil
	}
	found, err := s.read.Do(ctx, viewer, id)
	if err != nil {
		return err
	}
	if found.Burns {
		return paste.ErrNotFound
	}
	err = s.stars.Star(ctx, viewer.User.ID, paste.ID(id))
	if fault.Is(err, fault.NotFound) {
		return token.Rejected()
	}
	return err
}
