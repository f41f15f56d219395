package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// ShowSelf shows signed-in users their own account.
type ShowSelf struct{ users user.AccountFinder }

// Do returns the viewer's account. It fails with token.Rejected when the viewer has not signed in, or their account was deleted
// meanwhile, and with fault.Unavailable when the store does not answer.
func (s *ShowSelf) Do(ctx context.Context, viewer token.Viewer) (user.Account, error) {
	if !viewer.SignedIn() {
		return user.Account{}, token.Rejected()
	}
	account, err := s.users.AccountByID(ctx, viewer.User.ID)
	if fault.Is(err, fault.NotFound) {
		return user.Account{}, token.Rejected()
	}
	return account, err
}
