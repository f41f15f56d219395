package pages

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/domain/fault"
)

// What pages look like is in the files *.templ, of which templ makes Go, in the version of go.mod.
//
//go:generate sh -c "go run github.com/a-h/templ/cmd/templ@$(go list -m -f {{.Version}} github.com/a-h/templ) fmt ."
//go:generate sh -c "go run github.com/a-h/templ/cmd/templ@$(go list -m -f {{.Version}} github.com/a-h/templ) generate"

// errNothing is for paths at which there is no page, and whatever a reader may not know to be there.
var errNothing = fault.New(fault.NotFound, "There is nothing at this path.")

// A page loads and runs what comes from here alone and in files of its own, is shown in no frame, and sends what is filled in
// nowhere else.
var (
	contentPolicy = []string{"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'"}
	// With no-referrer, browsers send "Origin: null" with forms.
	referrerPolicy  = []string{"same-origin"}
	htmlContentType = []string{"text/html; charset=utf-8"}
	privateCaching  = []string{"private, no-store"}
	varyCookie      = []string{"Cookie"}
)

// layout is what all pages have around what they show.
type layout struct {
	Title       string // of the window, before the service's name; empty: that alone
	Description string // for previews of links; empty: none
	Reader      string // the name of who has signed in, or ""
	SignedIn    bool   // somebody has, whoever it is
	Here        string // the path to come back to after signing in, or ""
}

// layout returns what is around the page that answers a request.
func (r *request) layout(title, description string) layout {
	return layout{Title: title, Description: description, Reader: r.session.name, SignedIn: r.session.secret != "", Here: r.URL.EscapedPath()}
}

// service is its name as people read it.
const service = "Gluepot"

// window returns the title of the window.
func (l *layout) window() string {
	if l.Title == "" {
		return service
	}
	return l.Title + " · " + service
}

// signIn returns where to sign in.
func (l *layout) signIn() string {
	if l.Here == "" {
		return pathSignIn
	}
	return pathSignIn + "?next=" + url.QueryEscape(l.Here)
}

// guard sets the headers of a page. One that is its reader's own stays in no cache.
func guard(w http.ResponseWriter, personal bool) {
	header := w.Header()
	header["Content-Type"] = htmlContentType
	header["Content-Security-Policy"] = contentPolicy
	header["Referrer-Policy"] = referrerPolicy
	header["Vary"] = varyCookie
	if personal {
		header["Cache-Control"] = privateCaching
	}
}

// show writes a page.
func show(w http.ResponseWriter, r *request, page templ.Component) error {
	guard(w, r.personal())
	return write(w, page)
}

// personal reports whether the answer is for who sends the request alone: somebody who has signed in, or whose cookie it clears.
func (r *request) personal() bool { return r.session.secret != "" || r.rejected }

// write writes a page. What it shows is there by then, so that no deadline ends it half-way.
func write(w io.Writer, page templ.Component) error {
	to := &document{w}
	err := page.Render(context.Background(), to)
	to.Writer = nil // templ keeps the document until its buffer is used again
	return err
}

// document is what pages are written to. HTML cannot hold U+0000, which templ leaves as it is. And it cannot be flushed, what templ
// would do with each page: whether a page is sent is decided when it is complete.
type document struct{ io.Writer }

var null, replacement = []byte{0}, []byte("\ufffd")

func (d *document) Write(b []byte) (int, error) {
	if bytes.IndexByte(b, 0) < 0 {
		return d.Writer.Write(b)
	}
	if _, err := d.Writer.Write(bytes.ReplaceAll(b, null, replacement)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// errorPage is an error as people read it.
type errorPage struct {
	layout

	Heading, Text string
	SignIn        bool // it would help
}

// AnswerError shows an error to a person. Of something that is not there it says the same whatever the reason.
func (p *Pages) AnswerError(w http.ResponseWriter, r *http.Request, status int, message string) {
	header := w.Header()
	vary := header["Vary"]
	guard(w, false)
	header["Vary"] = append(slices.Clip(vary), varyCookie...)
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = []string{"no-store"}
	}
	page := errorPage{Heading: http.StatusText(status), Text: message}
	switch status {
	case http.StatusNotFound:
		page.Heading = "There is nothing here"
		page.Text = "It may have expired or been deleted, be somebody's own, or never have been here."
	case http.StatusRequestEntityTooLarge:
		page.Heading = "This is too long"
		page.Text = "Go back, and send less of it. " + message
	case http.StatusUnauthorized:
		page.Heading = "You have not signed in"
		page.Text = "This needs an access token that is valid. Sign in, and try again."
	}
	page.SignIn = status == http.StatusUnauthorized
	page.SignedIn = !page.SignIn && cookieSecret(r) != "" && header["Set-Cookie"] == nil // which clears the cookie
	page.Title = page.Heading
	w.WriteHeader(status)
	_ = write(w, p.errorView(page)) // a client that has gone cannot be told
}
