package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/paste"
)

// crossSite reports whether a browser says that a page of another site sends the request (Fetch Metadata).
func crossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// withinLimits counts a request, and reports whether it may go on. Otherwise it has answered it.
func (a *API) withinLimits(c *gin.Context, route string) bool {
	if a.limits == nil || route == PathAlive || route == PathReady || c.Request.Method == http.MethodOptions {
		return true
	}
	secret, inBody := presentedToken(c), false
	if c.GetString(pageKey) != "" {
		secret, inBody = a.pages.Token(c.Request)
	}
	refused, retry := a.limits.Admit(limitRequest(c.Request, secret, inBody))
	message := "You send too many requests. Try again after the time in Retry-After."
	if refused == limit.FailedSignIns {
		message = "Too many sign-ins and access tokens that are not valid came from your address. Try again after the time in Retry-After."
	}
	if refused != "" {
		a.tooMany(c, refused, retry, message)
	}
	return refused == ""
}

// limitRequest returns what the limits need to know of a request that presents a token, or may have one in its body.
func limitRequest(r *http.Request, secret string, inBody bool) limit.Request {
	return limit.Request{Client: r.RemoteAddr, Token: secret, InBody: inBody, CrossSite: crossSite(r)}
}

// tooMany answers 429 (RFC 6585, 4).
func (a *API) tooMany(c *gin.Context, name string, retry time.Duration, message string) {
	if a.onLimited != nil {
		a.onLimited(name)
	}
	c.Header("Retry-After", limit.Seconds(retry))
	a.problem(c, http.StatusTooManyRequests, message)
}

// counted returns whose quota a request counts for: the address, or an IPv6 client's network.
func counted(r *http.Request) paste.Client { return paste.Client(limit.Client(r.RemoteAddr)) }
