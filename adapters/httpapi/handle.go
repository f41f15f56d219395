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

// authMode is how an endpoint treats the Authorization header.
type authMode uint8

const (
	authIgnored  authMode = iota // as if it were absent, even if it is invalid
	authLenient                  // without a valid token, the sender is a visitor
	authOptional                 // without a token, the sender is a visitor; 401 for an invalid one
	authRequired                 // 401 without a valid token
	authAnyScope                 // as authOptional; use cases check the scope, as the method does not tell what is written
)

// call is a request for an endpoint that may wait for the database.
type call struct {
	*gin.Context

	secret string       // the presented token, or ""
	viewer token.Viewer // the sender; zero: a visitor
	body   []byte
	claim  limit.Claim // of memory for the body, then for the answer
}

// actor returns the sender, as use cases that change something take it.
func (c *call) actor() audit.Actor {
	address, _ := netip.ParseAddr(c.Request.RemoteAddr) // a Unix socket has none
	return audit.By(c.viewer, address)
}

// endpointFunc returns the answer of an endpoint: see API.send.
type endpointFunc func(context.Context, *call) (any, error)

// handle makes the handler of an endpoint without a body.
func (a *API) handle(mode authMode, endpoint endpointFunc) gin.HandlerFunc {
	return a.handler(mode, false, endpoint)
}

// handleBody makes the handler of an endpoint that receives a body, as those that create or edit pastes do.
func (a *API) handleBody(mode authMode, endpoint endpointFunc) gin.HandlerFunc {
	return a.handler(mode, true, endpoint)
}

// handler makes the handler of an endpoint that may wait for the database. The deadline begins once the body has
// arrived. Answers to a token stay out of caches. With authLenient an endpoint may show an unlisted paste, so its
// answer says noindex unless the endpoint removes that.
func (a *API) handler(mode authMode, hasBody bool, endpoint endpointFunc) gin.HandlerFunc {
	return func(gc *gin.Context) {
		c, header := &call{Context: gc, claim: a.newClaim(gc.Request)}, gc.Writer.Header()
		if mode != authIgnored {
			c.secret = presentedToken(gc)
		}
		if mode == authLenient {
			header["Vary"], header["X-Robots-Tag"] = varyAuthorization, noindex
		}
		if mode == authRequired || mode == authOptional || c.secret != "" {
			header["Cache-Control"] = privateNoStore
		}
		defer c.claim.Release()
		var err error
		if hasBody {
			c.body, err = a.receive(gc, &c.claim)
		}
		if err == nil {
			err = a.answer(c, mode, endpoint, true)
		}
		if short, ok := errors.AsType[*shortage](err); ok {
			c.claim.Force(int64(len(c.body))) // a request that waits holds nothing but its body
			if err = c.claim.Transfer(patient(gc.Request), short.bytes); err == nil {
				err = a.answer(c, mode, endpoint, false)
			}
		}
		if err != nil {
			a.fail(gc, err)
		}
	}
}

// answer signs in if signIn is set, calls an endpoint and sends what it returns. For a read it may fail with a
// shortage.
func (a *API) answer(c *call, mode authMode, endpoint endpointFunc, signIn bool) (err error) {
	ctx, cancel := a.deadline(c.Request)
	defer cancel()
	if signIn {
		err = a.signIn(ctx, mode, c)
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

// bodyFactor is the memory that a body takes, in multiples of its length: itself, its decoded texts, and the store's
// copies.
const bodyFactor = 6

// receive returns the body of a request. It fails with a refusal if the body is too large, encoded or incomplete, or if
// there is no memory for it. It claims the Content-Length before it reads, and then the memory that handling the body
// takes.
func (a *API) receive(c *gin.Context, claim *limit.Claim) (body []byte, err error) {
	r, page, most := c.Request, pageOf(c), a.cfg.PasteMaxBody
	if page != nil && page.MaxBody > 0 {
		most = page.MaxBody
	}
	switch length := r.ContentLength; {
	case length > int64(most):
		return nil, tooLarge(most)
	case length > 0:
		if claim.Transfer(patient(r), length) != nil {
			return nil, errNoMemory
		}
		body = make([]byte, length)
		_, err = io.ReadFull(r.Body, body)
	case length < 0:
		body, err = receiveChunks(c, claim, int64(most))
	}
	switch {
	case err == nil:
	case errors.Is(err, limit.ErrNoMemory):
		return nil, errNoMemory
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errBodyTimeout
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, tooLarge(most)
	default:
		return nil, errIncompleteBody
	}
	coding := strings.Join(r.Header["Content-Encoding"], ",")
	if coding != "" && !strings.EqualFold(coding, "identity") && (page == nil || !page.Encoded) {
		return nil, errContentEncoding
	}
	return body, claim.Work(patient(r), bodyFactor*int64(len(body)))
}

// receiveChunks reads a body of unknown length, up to most bytes.
func receiveChunks(c *gin.Context, claim *limit.Claim, most int64) ([]byte, error) {
	body := new(bytes.Buffer)
	chunks := http.MaxBytesReader(c.Writer, c.Request.Body, most)
	if _, err := io.CopyN(body, chunks, limit.Uncounted); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return body.Bytes(), err
	}
	if err := claim.Transfer(patient(c.Request), most); err != nil {
		return nil, err
	}
	_, err := body.ReadFrom(chunks)
	return body.Bytes(), err
}

// patient returns the context of a request that goes on when its client goes away. A deadline that an embedder's
// middleware has set still counts.
func patient(r *http.Request) context.Context {
	ctx := r.Context()
	if _, bounded := ctx.Deadline(); !bounded {
		ctx = context.WithoutCancel(ctx)
	}
	return ctx
}

// deadline bounds the time of a request. A client that goes away does not cancel it, because cancelling a statement
// costs a connection to the database. An embedder's middleware can set a deadline of its own.
func (a *API) deadline(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(patient(r), a.cfg.RequestTimeout)
}

// signIn identifies the sender of a request, and checks the token's scope: read suffices for GET and HEAD. It tells the
// limits whether the token is valid.
func (a *API) signIn(ctx context.Context, mode authMode, c *call) (err error) {
	if c.secret == "" {
		if mode == authRequired {
			return token.ErrRejected
		}
		return nil
	}
	c.viewer, err = a.modules.Tokens.SignIn.Do(ctx, c.secret)
	switch {
	case err == nil:
		a.limits.NoteValid(c.secret, c.viewer.User.ID)
	case fault.Is(err, fault.Unauthenticated):
		a.limits.NoteInvalid(c.Request, c.secret)
		if mode == authLenient {
			return nil
		}
	case mode == authLenient && fault.Is(err, fault.Forbidden): // a suspended user is a visitor
		return nil
	}
	if err == nil && !reads(c.Request) && mode != authAnyScope {
		err = c.viewer.MayWrite()
	}
	return err
}

// reads reports whether a request only reads.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// presentedToken returns the token in the Authorization header, or "". Clients of the v2 API send it bare. "Bearer"
// (RFC 6750) or "Token" may precede it, in any case.
func presentedToken(c *gin.Context) string {
	header := strings.Trim(c.Request.Header.Get("Authorization"), " \t")
	scheme, rest, _ := strings.Cut(header, " ")
	if strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Token") {
		return strings.TrimLeft(rest, " \t")
	}
	return header
}
