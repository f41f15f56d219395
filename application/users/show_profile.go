package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/user"
)

// ShowProfile shows a user's public profile.
type ShowProfile struct{ users user.StaleFinder }

// Do returns the user with that name if the profile is public. A private profile fails exactly as an
// unknown name does: with fault.NotFound. It fails with fault.Unavailable when the store does not answer.
func (s *ShowProfile) Do(ctx context.Context, name string) (user.User, error) {
	found, err := find(ctx, s.users, name)
	if err != nil {
		return user.User{}, err
	}
	if !found.PublicProfile {
		return user.User{}, user.ErrNotFound
	}
	return found, nil
}
