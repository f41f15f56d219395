package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// ShowOwner shows whose a paste is, of which the owner's id is known.
type ShowOwner struct{ users user.StaleIDFinder }

// Do returns the user with that id if the profile is public, and fails as ShowProfile.Do does.
func (s *ShowOwner) Do(ctx context.Context, id user.ID) (_ user.User, err error) {
	ctx, end := trace.Start(ctx, "users.ShowOwner")
	defer func() { end(err) }()
	found, err := s.users.StaleByID(ctx, id)
	if err != nil {
		return user.User{}, user.Gone(err)
	}
	if !found.PublicProfile {
		return user.User{}, user.ErrNotFound
	}
	return found, nil
}
