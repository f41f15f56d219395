package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/token"
)

// wants is what an endpoint wants of a request: one way to treat the header Authorization, and a body, if it creates or changes a paste.
type wants uint8

const (
	ignored   wants = 1 << iota // the header is ignored, even if it is invalid
	optional                    // it names the reader; without a valid token the answer is that for visitors
	required                    // without a valid token the answer is 401
	voluntary                   // there may be no token; an invalid one is answered with 401
	withBody
)

// call is a request for an endpoint that may wait for the database.
type call struct {
	*gin.Context

	secret string       // the token that it presents, or ""
	viewer token.Viewer // its sender; zero: not signed in
	buffer buffer       // the body of the request, then that of the answer; released in the end
}

// handle makes the handler of an endpoint that may wait for the database. It answers with what the endpoint returns: see API.send. The
// deadline begins once the body has arrived. Answers to a token stay out of caches. An optional endpoint may show an unlisted
// paste, so its answer says noindex unless the endpoint removes that.
func (a *API) handle(how wants, endpoint func(context.Context, *call) (any, error)) gin.HandlerFunc {
	return func(gc *gin.Context) {
		c, header := &call{Context: gc}, gc.Writer.Header()
		if how&ignored == 0 {
			c.secret = presentedToken(gc)
		}
		if how&optional != 0 {
			header["Vary"], header["X-Robots-Tag"] = varyAuthorization, noindex
		}
		if how&(required|voluntary) != 0 || c.secret != "" {
			header["Cache-Control"] = privateHeader
		}
		defer c.buffer.Release()
		var answer any
		var err error
		if how&withBody != 0 {
			c.buffer = a.newBuffer(gc.Request, bodyFactor)
			err = a.receive(gc, &c.buffer)
		}
		ctx, cancel := a.deadline(gc.Request, how&withBody != 0)
		defer cancel()
		if err == nil {
			err = a.signIn(ctx, how, c)
		}
		if err == nil {
			answer, err = endpoint(ctx, c)
		}
		if err == nil {
			err = a.send(c, answer)
		}
		if err != nil {
			a.fail(gc, err)
		}
	}
}

// bodyFactor is how many times its length a body takes in memory: itself, the decoded texts, and the store's copies.
const bodyFactor = 6

// readAtOnce is how many bytes of a body are read at once.
const readAtOnce = 4 << 10

// receive collects the body of a request. It fails with a refusal when the body is too large, encoded or incomplete, or there is no
// memory for it. It claims memory for what has arrived, not for what Content-Length announces.
func (a *API) receive(c *gin.Context, to *buffer) error {
	r := c.Request
	if r.ContentLength > int64(a.cfg.PasteMaxBody) {
		return a.tooLarge()
	}
	if r.ContentLength != 0 {
		_, err := io.CopyBuffer(to, http.MaxBytesReader(c.Writer, r.Body, int64(a.cfg.PasteMaxBody)), make([]byte, readAtOnce))
		switch {
		case err == nil:
		case errors.Is(err, limit.ErrNoMemory):
			return errNoRoom
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errSlow
		case errors.As(err, new(*http.MaxBytesError)):
			return a.tooLarge()
		default:
			return errBroken
		}
	}
	if coding := strings.Join(r.Header["Content-Encoding"], ","); coding != "" && !strings.EqualFold(coding, "identity") {
		return errEncoded
	}
	return nil
}

// deadline bounds the time of a request, and has the store refuse its writes if its client is in a blocked network. A client that
// goes away does not cancel it, as cancelling a statement costs a connection to the database. An embedder's middleware can cancel
// it with its own deadline.
func (a *API) deadline(r *http.Request, writes bool) (context.Context, context.CancelFunc) {
	ctx := r.Context()
	if _, bounded := ctx.Deadline(); !bounded {
		ctx = context.WithoutCancel(ctx)
	}
	if writes {
		address, _ := netip.ParseAddr(r.RemoteAddr) // a Unix socket has none
		ctx = moderation.From(ctx, address)
	}
	return context.WithTimeout(ctx, a.cfg.RequestTimeout)
}

// signIn identifies the sender of a request, and checks the token's scope: read suffices for GET and HEAD. It tells the limits whether
// the token is valid.
func (a *API) signIn(ctx context.Context, how wants, c *call) (err error) {
	if c.secret == "" {
		if how&required != 0 {
			return token.ErrRejected
		}
		return nil
	}
	c.viewer, err = a.modules.Tokens.SignIn.Do(ctx, c.secret)
	switch {
	case err == nil:
		a.limits.Proven(c.secret, c.viewer.User.ID)
	case fault.Is(err, fault.Unauthenticated):
		a.limits.Rejected(c.Request, c.secret)
		if how&optional != 0 {
			return nil
		}
	case how&optional != 0 && fault.Is(err, fault.Forbidden): // the user is suspended: treat them as a visitor
		return nil
	}
	if err == nil && !reads(c.Request) {
		err = c.viewer.MayWrite()
	}
	return err
}

// reads reports whether a request changes nothing.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

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
