package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// authorization is how a route treats the header Authorization. Every route has to set it.
type authorization uint8

const (
	ignored   authorization = iota + 1 // it is ignored, even if it is invalid
	optional                           // it names the reader; without a valid token the answer is that for visitors
	required                           // without a valid token the answer is 401
	voluntary                          // there may be none; one that is not valid is answered with 401
)

// Context keys of authorize and signIn.
const (
	authorizationKey = "authorization"
	viewerKey        = "viewer"
)

// authorize sets the headers for caches and search engines, and tells signIn how to treat the token. Answers to a token stay out of
// caches. What is optional may be unlisted, so it says noindex unless its handler removes that.
func (how authorization) authorize(c *gin.Context) {
	header := c.Writer.Header()
	secret := presentedToken(c)
	c.Set(authorizationKey, how)
	if how == optional {
		header["Vary"], header["X-Robots-Tag"] = varyAuthorization, noindex
	}
	if how != optional || secret != "" {
		header["Cache-Control"] = privateHeader
	}
	if how != optional {
		c.Set(provesTokenKey, true)
	}
}

var varyAuthorization = []string{"Authorization"}

// signIn identifies the sender of a request as its route demands, and checks the token's scope: read suffices for GET and HEAD. handle
// and accept call it before every endpoint.
func (a *API) signIn(ctx context.Context, c *gin.Context) error {
	how, _ := c.Value(authorizationKey).(authorization)
	if how == 0 { // ignored
		return nil
	}
	secret := presentedToken(c)
	if secret == "" {
		if how == required {
			return token.Rejected()
		}
		return nil
	}
	viewer, err := a.modules.Tokens.SignIn.Do(ctx, secret)
	if how == optional && fault.Is(err, fault.Unauthenticated) {
		c.Set(rejectedTokenKey, true)
		return nil
	}
	if how == optional && fault.Is(err, fault.Forbidden) { // the user is suspended: treat them as a visitor
		return nil
	}
	c.Set(viewerKey, viewer)
	if err == nil && c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
		err = viewer.MayWrite()
	}
	return err
}

// viewerOf returns the sender of a request; the zero Viewer has not signed in.
func viewerOf(c *gin.Context) token.Viewer {
	viewer, _ := c.Value(viewerKey).(token.Viewer)
	return viewer
}

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
