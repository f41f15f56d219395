package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/user"
)

// ShowOwner shows the owner of a paste by id.
type ShowOwner struct{ users user.StaleIDFinder }

// Do returns the user with that id if the profile is public, and fails as ShowProfile.Do does.
func (s *ShowOwner) Do(ctx context.Context, id user.ID) (user.User, error) {
	found, err := s.users.StaleByID(ctx, id)
	if err != nil {
		return user.User{}, user.Gone(err)
	}
	if !found.PublicProfile {
		return user.User{}, user.ErrNotFound
	}
	return found, nil
}
