package httpapi

import (
	"context"

	"github.com/gluepot/gluepot/adapters/internal/view"
)

// emptyString is the specification's "yes, the user exists".
var emptyString = []byte(`""`)

func (a *API) userExists(ctx context.Context, c *call) error {
	if err := a.modules.Users.CheckExists.Do(ctx, c.Param("username")); err != nil {
		return err
	}
	sendJSON(c.Context, emptyString)
	return nil
}

func (a *API) userProfile(ctx context.Context, c *call) error {
	profile, err := a.modules.Users.ShowProfile.Do(ctx, c.Param("username"))
	if err != nil {
		return err
	}
	return encodeAndSend(c.Context, view.PublicOf(profile))
}

func (a *API) self(ctx context.Context, c *call) error {
	account, err := a.modules.Users.ShowSelf.Do(ctx, c.viewer)
	if err != nil {
		return err
	}
	return encodeAndSend(c.Context, view.SelfOf(account))
}
