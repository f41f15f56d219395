package httpapi

import (
	"context"

	"github.com/gluepot/gluepot/adapters/internal/view"
)

func (a *API) userExists(ctx context.Context, c *call) (any, error) {
	return "", a.modules.Users.CheckExists.Do(ctx, c.Param("username")) // the specification's "yes"
}

func (a *API) userProfile(ctx context.Context, c *call) (any, error) {
	profile, err := a.modules.Users.ShowProfile.Do(ctx, c.Param("username"))
	return view.PublicOf(profile), err
}

func (a *API) self(ctx context.Context, c *call) (any, error) {
	account, err := a.modules.Users.ShowSelf.Do(ctx, c.viewer)
	return view.SelfOf(account), err
}
