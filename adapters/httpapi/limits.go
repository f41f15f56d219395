package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// crossSite reports whether a browser says that a page of another site sends the request (Fetch Metadata).
func crossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// admit counts a request from an address and reports whether it may go on; otherwise it has been answered.
func (a *API) admit(c *gin.Context, r limit.Request, route string) bool {
	if route == PathAlive || route == PathReady || c.Request.Method == http.MethodOptions {
		return true
	}
	v := a.limits.Admit(r)
	if v.Left != nil {
		header := c.Writer.Header()
		header["Ratelimit-Policy"], header["Ratelimit"] = v.Policy, v.Left // as net/http spells them
	}
	switch v.Refused {
	case "":
		return true
	case limit.FailedSignIns:
		a.tooMany(c, v.Refused, v.Retry,
			"Too many access tokens that are not valid came from your address. Try again after the time in Retry-After.")
	default:
		a.tooMany(c, v.Refused, v.Retry, "You send too many requests. Try again after the time in Retry-After.")
	}
	return false
}

// judged notes what the answer to a request says of the token that it presents.
func (a *API) judged(c *gin.Context, r limit.Request) {
	switch status := c.Writer.Status(); {
	case status == http.StatusUnauthorized || c.GetBool(rejectedTokenKey):
		a.limits.Rejected(r)
	case status < http.StatusBadRequest && !r.InBody && c.GetBool(provesTokenKey):
		a.limits.Proven(r)
	}
}

// presents returns what the limits have to know of a request.
func (a *API) presents(c *gin.Context, client string, page bool) (r limit.Request) {
	if a.limits == nil {
		return r
	}
	r = limit.Request{Client: client, CrossSite: crossSite(c.Request)}
	if page {
		r.Token, r.InBody = a.pages.Token(c.Request)
	} else {
		r.Token = presentedToken(c)
	}
	return r
}

const (
	// rejectedTokenKey says of a request that its token was rejected: endpoints that answer without one too do not say it by 401.
	rejectedTokenKey = "rejectedToken"
	// provesTokenKey says of a request that its endpoint answers a token that is not valid with 401.
	provesTokenKey = "provesToken"
)

// noteRejected leaves for judged that the token was rejected, though the answer does not say so.
func noteRejected(c *gin.Context, rejected bool) {
	if rejected {
		c.Set(rejectedTokenKey, true)
	}
}

// tooMany answers a request that a limit refuses with 429 (RFC 6585, 4).
func (a *API) tooMany(c *gin.Context, name string, retry time.Duration, message string) {
	if a.onLimited != nil {
		a.onLimited(name)
	}
	c.Header("Retry-After", limit.Seconds(retry))
	a.problem(c, http.StatusTooManyRequests, message)
}
