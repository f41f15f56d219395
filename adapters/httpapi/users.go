package httpapi

import (
	"context"

	"github.com/gluepot/gluepot/adapters/internal/view"
)

func (a *API) userExists(ctx context.Context, c *call) error {
	if err := a.modules.Users.CheckExists.Do(ctx, c.Param("username")); err != nil {
		return err
	}
	sendJSON(c.Context, "") // the specification's "yes"
	return nil
}

func (a *API) userProfile(ctx context.Context, c *call) error {
	profile, err := a.modules.Users.ShowProfile.Do(ctx, c.Param("username"))
	if err != nil {
		return err
	}
	sendJSON(c.Context, view.PublicOf(profile))
	return nil
}

func (a *API) self(ctx context.Context, c *call) error {
	account, err := a.modules.Users.ShowSelf.Do(ctx, c.viewer)
	if err != nil {
		return err
	}
	sendJSON(c.Context, view.SelfOf(account))
	return nil
}
