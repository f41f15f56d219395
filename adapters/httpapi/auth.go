package httpapi

import (
	"context"
	"net/http"
	"net/netip"
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
		if err := a.run(how, &call{Context: gc}, endpoint); err != nil {
			a.fail(gc, err)
		}
	}
}

// accept is handle for an endpoint that creates or changes a paste with the body of the request.
func (a *API) accept(how authorization, endpoint func(context.Context, *call) error) gin.HandlerFunc {
	return func(gc *gin.Context) {
		c := &call{Context: gc, body: a.newBuffer(gc.Request, bodyFactor)}
		defer c.body.Release()
		if err := a.run(how, c, endpoint); err != nil {
			a.fail(gc, err)
		}
	}
}

// run receives the body, if the endpoint takes one, signs in and runs the endpoint. The deadline begins once the body has arrived. Answers
// to a token stay out of caches. What is optional may be unlisted, so it says noindex unless its handler removes that.
func (a *API) run(how authorization, c *call, endpoint func(context.Context, *call) error) error {
	header := c.Writer.Header()
	if how != ignored {
		c.secret = presentedToken(c.Context)
	}
	if how == optional {
		header["Vary"], header["X-Robots-Tag"] = varyAuthorization, noindex
	}
	if how == required || how == voluntary || c.secret != "" {
		header["Cache-Control"] = privateHeader
	}
	if c.body != nil {
		if err := a.receive(c.Context, c.body); err != nil {
			return err
		}
	}
	ctx, cancel := a.deadline(c.Request)
	defer cancel()
	if c.body != nil {
		ctx = writing(ctx, c.Request)
	}
	if err := a.signIn(ctx, how, c); err != nil {
		return err
	}
	return endpoint(ctx, c)
}

// deadline bounds the time of a request. A client that goes away does not cancel it, as cancelling a statement costs a connection to
// the database. An embedder's middleware can cancel it with its own deadline.
func (a *API) deadline(r *http.Request) (context.Context, context.CancelFunc) {
	ctx := r.Context()
	if _, bounded := ctx.Deadline(); !bounded {
		ctx = context.WithoutCancel(ctx)
	}
	return context.WithTimeout(ctx, a.timeout)
}

// writing returns the context of a request that may write: clients in blocked networks may not.
func writing(ctx context.Context, r *http.Request) context.Context {
	address, _ := netip.ParseAddr(r.RemoteAddr) // a Unix socket has none
	return moderation.From(ctx, address)
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
		a.limits.Rejected(limitRequest(c.Request, c.secret, false))
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
	scheme, rest, _ := strings.Cut(header, " ")
	if strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Token") {
		return strings.TrimLeft(rest, " \t")
	}
	return header
}
