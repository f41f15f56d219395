package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/internal/route"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// Endpoint is a path of another adapter, which the router of the interface serves.
type Endpoint = route.Endpoint

// Sender is who sends a request for an Endpoint.
type Sender = route.Sender

// foreign asks an endpoint of another adapter. It passes what endpoints of the interface pass: limits, the budget of
// memory, signing in, deadline and log.
func (a *API) foreign(e Endpoint) func(context.Context, *call) (any, error) {
	return func(ctx context.Context, c *call) (any, error) {
		if err := a.checkSite(c); err != nil {
			return nil, err
		}
		r := c.Request.WithContext(ctx)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
		answer := &collected{header: make(http.Header), status: http.StatusOK}
		var short *shortage
		e.Post(answer, r, Sender{
			Body:   c.body,
			Viewer: c.viewer,
			Actor:  c.actor(),
			Link:   func(id paste.ID) string { return a.link(c, id) },
			Hold: func(bytes int64) error {
				bytes += int64(len(c.body))
				switch {
				case bytes > a.memory.Share():
					return route.ErrTooLong
				case c.claim.Holds(bytes) || c.claim.Try(bytes):
					return nil
				}
				short = &shortage{bytes}
				return short
			},
			Guess: func(try func() error) error { return a.guess(c, try) },
			Told: func(err error) {
				if !errors.As(err, new(*shortage)) {
					a.note(c.Context, err)
				}
			},
		})
		if short != nil {
			return nil, short
		}
		return answer, nil
	}
}

// guess calls what tries a secret, unless too many came from the client's address that were not valid.
func (a *API) guess(c *call, try func() error) error {
	if retry := a.limits.WaitToTry(c.Request); retry > 0 {
		a.noteLimit(c.Context, limit.FailedSignIns, retry)
		return limitErrors[limit.FailedSignIns]
	}
	err := try()
	if fault.Is(err, fault.Unauthenticated) {
		a.limits.NoteFailure(c.Request)
	}
	return err
}

// collected is the http.ResponseWriter of an endpoint of another adapter. It is sent when it is complete.
type collected struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *collected) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *collected) WriteHeader(status int) { w.status = status }

// Write implements http.ResponseWriter. It does not fail.
func (w *collected) Write(p []byte) (int, error) { return w.body.Write(p) }
