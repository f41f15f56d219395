package httpapi

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
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
			"Too many sign-ins and access tokens that are not valid came from your address. Try again after the time in Retry-After.")
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

// tooMany answers a request that a limit refuses with 429 (RFC 6585, 4).
func (a *API) tooMany(c *gin.Context, name string, retry time.Duration, message string) {
	if a.onLimited != nil {
		a.onLimited(name)
	}
	c.Header("Retry-After", limit.Seconds(retry))
	a.problem(c, http.StatusTooManyRequests, message)
}

var errCrossSite = fault.New(fault.Unauthenticated,
	"A page of another site may create pastes with an access token only: without one, they would count for its visitor.")

// counts returns whose quota a new paste counts for. An address is looked for only where it counts, and there a page of another site
// may not use up the quota of its visitor.
func (a *API) counts(c *gin.Context, viewer token.Viewer) (paste.Client, error) {
	if viewer.SignedIn() || !a.modules.Pastes.CreateOwn.Counts() {
		return "", nil
	}
	if crossSite(c.Request) {
		return "", errCrossSite
	}
	return a.counted(c.Request), nil
}

// counted returns whose quota a request counts for: that of an address, or of an IPv6 client's network.
func (a *API) counted(r *http.Request) paste.Client {
	client, _ := a.proxies.client(r)
	return paste.Client(limit.Client(client))
}

// tellUsage adds what a client has used of its quota to what the other limits say (draft-ietf-httpapi-ratelimit-headers).
func tellUsage(header http.Header, used paste.Usage) {
	if used.Pastes == 0 {
		return
	}
	window := int(math.Ceil(used.Window.Seconds()))
	name := `"anonymous-pastes"`
	if used.Signed {
		name = `"pastes"`
	}
	policy := name + `;q=` + strconv.Itoa(used.Pastes) + ";w=" + strconv.Itoa(window)
	left := name + `;r=` + strconv.Itoa(used.Left()) + ";t=" + limit.Seconds(used.Full)
	if others := header["Ratelimit-Policy"]; len(others) > 0 { // as net/http spells them
		policy, left = others[0]+", "+policy, header["Ratelimit"][0]+", "+left
	}
	header["Ratelimit-Policy"], header["Ratelimit"] = []string{policy}, []string{left}
}
