package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// Pages of any origin may ask: what is private needs a token, which a page has only if its user gave it one. Credentials
// that a browser adds by itself are not asked for, and would not be looked at.
var (
	anyOrigin        = []string{"*"}
	exposedHeaders   = []string{"Retry-After, WWW-Authenticate, ETag, X-Request-Id, Location, Gluepot-Delete-Key, RateLimit, RateLimit-Policy"}
	allowedHeaders   = []string{"Authorization, Content-Type, If-None-Match, Gluepot-Delete-Key"}
	preflightSeconds = []string{"86400"} // a day, for which browsers may remember the answer
	noStore          = []string{"no-store"}
	varyOrigin       = []string{"Origin"}
)

// share lets a page read the answer to its request, whatever that will be.
func share(request, answer http.Header) {
	if _, ok := request["Origin"]; ok {
		answer["Access-Control-Allow-Origin"] = anyOrigin
		answer["Access-Control-Expose-Headers"] = exposedHeaders
	}
}

// preflight answers OPTIONS for a path that takes these methods.
func preflight(allowed []string) gin.HandlerFunc {
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header["Allow"] = allowed
		header["Access-Control-Allow-Methods"] = allowed
		header["Access-Control-Allow-Headers"] = allowedHeaders
		header["Access-Control-Max-Age"] = preflightSeconds
		header["Cache-Control"] = noStore
		c.Status(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
	}
}
