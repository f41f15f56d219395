package httpapi

import (
	"strings"

	"github.com/gin-gonic/gin"
)

// presentedToken returns the token of the Authorization header, or "" when there is none. Clients of the v2
// API send it bare; "Bearer" (RFC 6750) and "Token" may stand before it, in any case.
func presentedToken(c *gin.Context) string {
	header := strings.Trim(c.Request.Header.Get("Authorization"), " \t")
	scheme, rest, found := strings.Cut(header, " ")
	if strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Token") {
		if !found {
			return ""
		}
		return strings.TrimLeft(rest, " \t")
	}
	return header
}
