package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// wants is what an endpoint wants of a request: one way to treat the header Authorization, and a body, if it creates or
// changes a paste.
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
	body   []byte
	claim  limit.Claim // of memory for the body, then for the answer; released in the end
}

// actor returns the sender as the one who changes something.
func (c *call) actor() audit.Actor {
	address, _ := netip.ParseAddr(c.Request.RemoteAddr) // a Unix socket has none
	return audit.By(c.viewer, address)
}

// handle makes the handler of an endpoint that may wait for the database. It answers with what the endpoint returns:
// see API.send. The deadline begins once the body has arrived. Answers to a token stay out of caches. An optional
// endpoint may show an unlisted paste, so its answer says noindex unless the endpoint removes that.
func (a *API) handle(how wants, endpoint func(context.Context, *call) (any, error)) gin.HandlerFunc {
	return func(gc *gin.Context) {
		c, header := &call{Context: gc, claim: a.newClaim(gc.Request)}, gc.Writer.Header()
		if how&ignored == 0 {
			c.secret = presentedToken(gc)
		}
		if how&optional != 0 {
			header["Vary"], header["X-Robots-Tag"] = varyAuthorization, noindex
		}
		if how&(required|voluntary) != 0 || c.secret != "" {
			header["Cache-Control"] = privateHeader
		}
		defer c.claim.Release()
		var err error
		if how&withBody != 0 {
			c.body, err = a.receive(gc, &c.claim)
		}
		if err == nil {
			err = a.answer(c, how, endpoint, true)
		}
		if short, ok := errors.AsType[*shortage](err); ok {
			c.claim.Release() // who waits holds nothing
			if err = c.claim.Transfer(patient(gc.Request), short.bytes); err == nil {
				err = a.answer(c, how, endpoint, false)
			}
		}
		if err != nil {
			a.fail(gc, err)
		}
	}
}

// answer signs in unless that is done, asks an endpoint and sends what it returns. For a read it may fail with a
// shortage.
func (a *API) answer(
	c *call, how wants, endpoint func(context.Context, *call) (any, error), signIn bool,
) (err error) {
	ctx, cancel := a.deadline(c.Request)
	defer cancel()
	if signIn {
		err = a.signIn(ctx, how, c)
	}
	if err != nil {
		return err
	}
	answer, err := endpoint(ctx, c)
	if err != nil {
		return err
	}
	return a.send(c, answer)
}

// bodyFactor is how many times its length a body takes in memory: itself, the decoded texts, and the store's copies.
const bodyFactor = 6

// receive returns the body of a request. It fails with a refusal when the body is too large, encoded or incomplete, or
// there is no memory for it. It claims what Content-Length announces before it reads, and in the end what handling the
// body takes.
func (a *API) receive(c *gin.Context, claim *limit.Claim) (body []byte, err error) {
	r := c.Request
	switch length := r.ContentLength; {
	case length > int64(a.cfg.PasteMaxBody):
		return nil, a.tooLarge()
	case length > 0:
		if claim.Transfer(patient(r), length) != nil {
			return nil, errNoRoom
		}
		body = make([]byte, length)
		_, err = io.ReadFull(r.Body, body)
	case length < 0:
		body, err = a.receiveChunks(c, claim)
	}
	switch {
	case err == nil:
	case errors.Is(err, limit.ErrNoMemory):
		return nil, errNoRoom
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errSlow
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, a.tooLarge()
	default:
		return nil, errBroken
	}
	if coding := strings.Join(r.Header["Content-Encoding"], ","); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, errEncoded
	}
	return body, claim.Work(patient(r), bodyFactor*int64(len(body)))
}

// receiveChunks reads a body of unknown length.
func (a *API) receiveChunks(c *gin.Context, claim *limit.Claim) ([]byte, error) {
	body := new(bytes.Buffer)
	from := http.MaxBytesReader(c.Writer, c.Request.Body, int64(a.cfg.PasteMaxBody))
	if _, err := io.CopyN(body, from, limit.Uncounted); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return body.Bytes(), err
	}
	if err := claim.Transfer(patient(c.Request), int64(a.cfg.PasteMaxBody)); err != nil {
		return nil, err
	}
	_, err := body.ReadFrom(from)
	return body.Bytes(), err
}

// patient returns the context of a request without net/http's cancellation when its client goes away. That of an
// embedder's middleware stays.
func patient(r *http.Request) context.Context {
	ctx := r.Context()
	if _, bounded := ctx.Deadline(); !bounded {
		ctx = context.WithoutCancel(ctx)
	}
	return ctx
}

// deadline bounds the time of a request. A client that goes away does not cancel it, as cancelling a statement costs a
// connection to the database. An embedder's middleware can cancel it with its own deadline.
func (a *API) deadline(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(patient(r), a.cfg.RequestTimeout)
}

// signIn identifies the sender of a request, and checks the token's scope: read suffices for GET and HEAD. It tells the
// limits whether the token is valid.
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
