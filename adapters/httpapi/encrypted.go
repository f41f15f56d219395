package httpapi

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func (a *API) createEncrypted(ctx context.Context, c *gin.Context, body []byte) (paste.Document, error) {
	return a.create(ctx, c, func() (paste.Draft, error) { return wire.DecodeEncrypted(body) })
}

func (a *API) sendEncrypted(c *gin.Context, d *paste.Document) error {
	return encodeAndWrite(c, view.NewEncrypted(d))
}

// errOpens is told apart from there being none, as the page does, so that nobody opens it who has no key.
var errOpens = fault.New(fault.Conflict, "This paste burns after reading: POST /open/{id} deletes it, and answers with it.")

func (a *API) readEncrypted(ctx context.Context, c *gin.Context) error {
	found, err := a.modules.Pastes.ReadCipher.Do(ctx, viewerOf(c), c.Param("id"))
	if errors.Is(err, paste.ErrBurns) {
		return errOpens
	}
	if err != nil {
		return err
	}
	c.Writer.Header()["X-Robots-Tag"] = noindex
	return a.sendPaste(c, &found, presentedToken(c) == "", false)
}
