package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/internal/view"
)

// emptyString is the specification's "yes, the user exists".
var emptyString = []byte(`""`)

func (a *API) userExists(ctx context.Context, c *gin.Context) error {
	if err := a.modules.Users.CheckExists.Do(ctx, c.Param("username")); err != nil {
		return err
	}
	writeJSON(c, emptyString)
	return nil
}

func (a *API) userProfile(ctx context.Context, c *gin.Context) error {
	profile, err := a.modules.Users.ShowProfile.Do(ctx, c.Param("username"))
	if err != nil {
		return err
	}
	return encodeAndWrite(c, view.PublicOf(profile))
}

func (a *API) self(ctx context.Context, c *gin.Context) error {
	account, err := a.modules.Users.ShowSelf.Do(ctx, viewerOf(c))
	if err != nil {
		return err
	}
	return encodeAndWrite(c, view.SelfOf(account))
}
