package httpapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/paste"
)

// selfPastes collects the whole answer before it sends the first byte: a database that fails half-way
// through a long list must become a 503, not half an array.
func (a *API) selfPastes(ctx context.Context, c *gin.Context) error {
	answer := a.newLongAnswer(c.Request.Method == http.MethodHead)
	defer answer.release()
	answer.text.WriteByte('[')
	err := a.modules.Pastes.ListOwn.Do(ctx, presentedToken(c), func(id paste.ID) error {
		if answer.length() > 1 {
			answer.text.WriteByte(',')
		}
		answer.appendString(string(id))
		return answer.spill()
	})
	if err != nil {
		return err
	}
	answer.text.WriteByte(']')
	return answer.send(c, jsonContentType)
}

type countView struct {
	NumPastes int64 `json:"numPastes"`
}

func (a *API) pasteCount(ctx context.Context, c *gin.Context) error {
	count, err := a.modules.Pastes.CountActive.Do(ctx)
	if err != nil {
		return err
	}
	return encodeAndWrite(c, countView{NumPastes: count})
}
