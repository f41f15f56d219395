package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/token"
)

// authorization is how a route treats the header Authorization.
type authorization uint8

const (
	ignored   authorization = iota + 1 // it is ignored, even if it is invalid
	optional                           // it names the reader; without a valid token the answer is that for visitors
	required                           // without a valid token the answer is 401
	voluntary                          // there may be none; one that is not valid is answered with 401
)

// call is a request for an endpoint that may wait for the database.
type call struct {
	*gin.Context

	secret string       // the token that it presents, or ""
	viewer token.Viewer // its sender; zero: not signed in
	body   *buffer      // nil: the endpoint takes none
}

// handle makes the handler of an endpoint that may wait for the database.
func (a *API) handle(how authorization, endpoint func(context.Context, *call) error) gin.HandlerFunc {
	return func(gc *gin.Context) {
		c := how.newCall(gc)
		if err := a.run(how, c, endpoint); err != nil {
			a.fail(gc, err)
		}
	}
}

// accept is handle for an endpoint that creates or changes a paste with the body of the request. The deadline begins once that has
// arrived. Clients in blocked networks are refused.
func (a *API) accept(how authorization, endpoint func(context.Context, *call) error) gin.HandlerFunc {
	return func(gc *gin.Context) {
		c := how.newCall(gc)
		c.body = a.newBuffer(gc.Request, bodyFactor)
		defer c.body.Release()
		err := a.receive(gc, c.body)
		if err == nil {
			err = a.run(how, c, func(ctx context.Context, c *call) error {
				return endpoint(moderation.From(ctx, a.address(gc.Request)), c)
			})
		}
		if err != nil {
			a.fail(gc, err)
		}
	}
}

// newCall returns the call of a request, and sets the headers for caches and search engines. Answers to a token stay out of caches. What is
// optional may be unlisted, so it says noindex unless its handler removes that.
func (how authorization) newCall(gc *gin.Context) *call {
	c := &call{Context: gc}
	if how == ignored {
		return c
	}
	c.secret = presentedToken(gc)
	header := gc.Writer.Header()
	if how == optional {
		header["Vary"], header["X-Robots-Tag"] = varyAuthorization, noindex
	}
	if how != optional || c.secret != "" {
		header["Cache-Control"] = privateHeader
	}
	return c
}

var varyAuthorization = []string{"Authorization"}

// run signs in and runs the endpoint, under the request's deadline.
func (a *API) run(how authorization, c *call, endpoint func(context.Context, *call) error) error {
	ctx, cancel := a.deadline(c.Request)
	defer cancel()
	if err := a.signIn(ctx, how, c); err != nil {
		return err
	}
	return endpoint(ctx, c)
}

// signIn identifies the sender of a request, and checks the token's scope: read suffices for GET and HEAD. It tells the limits whether
// the token is valid.
func (a *API) signIn(ctx context.Context, how authorization, c *call) (err error) {
	if c.secret == "" {
		if how == required {
			return token.ErrRejected
		}
		return nil
	}
	c.viewer, err = a.modules.Tokens.SignIn.Do(ctx, c.secret)
	switch {
	case err == nil:
		a.limits.Proven(c.secret)
	case fault.Is(err, fault.Unauthenticated):
		a.limits.Rejected(a.limitRequest(c.Request, c.secret, false))
		if how == optional {
			return nil
		}
	case how == optional && fault.Is(err, fault.Forbidden): // the user is suspended: treat them as a visitor
		return nil
	}
	if err == nil && c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
		err = c.viewer.MayWrite()
	}
	return err
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
