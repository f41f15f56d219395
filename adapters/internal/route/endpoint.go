package route

import (
	"net/http"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// Endpoint is a path for programs outside the base path, and what answers its POST.
type Endpoint struct {
	// Path is a pattern of gin, such as /mcp.
	Path string
	// Headers are those that browsers may send, besides those of the interface.
	Headers []string
	// Post answers a request whose body has arrived, within the limits. The context of the request has its deadline,
	// and the answer is sent when Post returns. It may be called again for the same request: see Sender.Hold. Nil: there
	// is nothing at the path, whatever page fits it.
	Post func(w http.ResponseWriter, r *http.Request, from Sender)
}

// Sender is who sends a request, and what package httpapi does for its endpoint until Post returns.
type Sender struct {
	// Body is that of the request.
	Body []byte
	// Viewer is the user of the access token, or a visitor. An invalid token does not get here.
	Viewer token.Viewer
	// Actor is the viewer with the address of the client.
	Actor audit.Actor
	// Link returns the address of a paste.
	Link func(paste.ID) string
	// Hold claims memory for the answer to a read, before it is made. It fails with ErrTooLong if that is more than one
	// client may have. After another error the endpoint returns; it is called again when there is that much memory.
	Hold func(bytes int64) error
	// Guess calls what tries a secret other than the token, such as a delete key, and counts a failure. Too many of one
	// address are refused.
	Guess func(try func() error) error
	// Told notes an error that the answer tells of, for the log and the metrics.
	Told func(err error)
}

// ErrTooLong is the error of an answer that takes more memory than one client may have.
var ErrTooLong = fault.New(fault.Invalid, "The answer is too long. Ask for less at once.")
