package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// crossSite reports whether a browser says that a page of another site sends the request (Fetch Metadata).
func crossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// withinLimits counts a request, and reports whether it may go on. Otherwise it has answered it.
func (a *API) withinLimits(c *gin.Context, r limit.Request, route string) bool {
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
			"Too many sign-ins and access tokens that are not valid came from your address. Try again after the time in Retry-After.")
	default:
		a.tooMany(c, v.Refused, v.Retry, "You send too many requests. Try again after the time in Retry-After.")
	}
	return false
}

// noteToken tells the limits whether the answer shows that the request's token was valid.
func (a *API) noteToken(c *gin.Context, r limit.Request) {
	switch status := c.Writer.Status(); {
	case status == http.StatusUnauthorized || c.GetBool(rejectedTokenKey):
		a.limits.Rejected(r)
	case status < http.StatusBadRequest && !r.InBody && c.GetBool(provesTokenKey):
		a.limits.Proven(r)
	}
}

// limitRequest returns what the limits need to know of a request.
func (a *API) limitRequest(c *gin.Context, client string, page bool) (r limit.Request) {
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
	// rejectedTokenKey is set when a token was rejected by an endpoint that answers visitors, too, without a 401.
	rejectedTokenKey = "rejectedToken"
	// provesTokenKey is set when the endpoint answers an invalid token with 401: success proves that the token is valid.
	provesTokenKey = "provesToken"
)

// tooMany answers 429 (RFC 6585, 4).
func (a *API) tooMany(c *gin.Context, name string, retry time.Duration, message string) {
	if a.onLimited != nil {
		a.onLimited(name)
	}
	c.Header("Retry-After", limit.Seconds(retry))
	a.problem(c, http.StatusTooManyRequests, message)
}

var errCrossSite = fault.New(fault.Unauthenticated,
	"A page of another site may create pastes with an access token only: without one, they would count for its visitor.")

// counts returns whose quota an anonymous paste counts for, or "" if no quota applies. A page of another site must not use up its
// visitor's quota.
func (a *API) counts(c *gin.Context, viewer token.Viewer) (paste.Client, error) {
	if viewer.SignedIn() || !a.modules.Pastes.CreateOwn.Counts() {
		return "", nil
	}
	if crossSite(c.Request) {
		return "", errCrossSite
	}
	return a.counted(c.Request), nil
}

// counted returns whose quota a request counts for: the address, or an IPv6 client's network.
func (a *API) counted(r *http.Request) paste.Client {
	client, _ := a.proxies.client(r)
	return paste.Client(limit.Client(client))
}
