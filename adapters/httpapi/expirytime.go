package httpapi

import (
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
)

// expiryTime only computes: there is no deadline.
func (a *API) expiryTime(c *gin.Context) {
	query := c.Request.URL.RawQuery
	result, err := a.modules.Pastes.ExpiryTime.Do(wire.Value(parameter(query, "createdAt")), wire.Value(parameter(query, "expiresIn")))
	if err != nil {
		a.fail(c, err)
		return
	}
	writeJSON(c, append(strconv.AppendInt([]byte(`{"result":`), result, 10), '}'))
}
