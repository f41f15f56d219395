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
type Star struct{ *module }

// Do adds the paste to the end of the stars of the user of that name or id, see user.Find; a second time changes nothing. The
// paste need not exist yet: the star shows while it does. It returns the user. It fails as user.Find does, and with
// fault.Invalid when the paste's id breaks a rule.
func (s *Star) Do(ctx context.Context, username, id string) (user.User, error) {
	starrer, err := user.Find(ctx, s.users, username)
	if err != nil {
		return user.User{}, err
	}
	if !ident.Valid(id) {
		return user.User{}, fault.New(fault.Invalid, "The paste id is not 1 to 64 letters, digits, '-' or '_'.")
	}
	return starrer, user.Gone(s.store.Star(ctx, starrer.ID, paste.ID(id)))
}

// Unstar takes a paste out of a user's stars.
type Unstar struct{ *module }

// Do takes the paste out of the stars of the user of that name or id, and returns the user. It fails as user.Find does, and with
// fault.NotFound when there is no such star.
func (u *Unstar) Do(ctx context.Context, username, id string) (user.User, error) {
	starrer, err := user.Find(ctx, u.users, username)
	if err != nil {
		return user.User{}, err
	}
	err = u.store.Unstar(ctx, starrer.ID, paste.ID(id))
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "The user has no star for a paste with that id.")
	}
	return starrer, err
}

// StarSeen lets signed-in users star pastes that they may read.
type StarSeen struct{ read *Read }

// Do adds the paste to the viewer's stars, or takes it out of them; a second time changes nothing. A star can be taken back from a
// paste that is gone.
//
// It fails as Read.Do does when the paste is to be starred, and with token.Rejected when the viewer was deleted meanwhile.
func (s *StarSeen) Do(ctx context.Context, viewer token.Viewer, id string, starred bool) error {
	if err := mayOwn(viewer, id); err != nil {
		return err
	}
	if !starred {
		if err := s.read.store.Unstar(ctx, viewer.User.ID, paste.ID(id)); !fault.Is(err, fault.NotFound) {
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
	err = s.read.store.Star(ctx, viewer.User.ID, paste.ID(id))
	if fault.Is(err, fault.NotFound) {
		return token.Rejected()
	}
	return err
}
