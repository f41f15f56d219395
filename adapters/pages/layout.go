package pages

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
	// What the form encrypts is sent by its script.
	formPolicy = []string{contentPolicy[0] + "; connect-src 'self'"}
	// With no-referrer, browsers send "Origin: null" with forms.
	referrerPolicy  = []string{"same-origin"}
	htmlContentType = []string{"text/html; charset=utf-8"}
	privateCaching  = []string{"private, no-store"}
	varyCookie      = []string{"Cookie"}
	noIndex         = []string{"noindex"}
)

// layout is what all pages have around what they show.
type layout struct {
	Title       string // of the window, before the service's name; empty: that alone
	Description string // for previews of links; empty: none
	Canonical   string // the address of the page, or "" where it is not known or does not matter
	Reader      string // the name of the signed-in user, or ""
	SignedIn    bool   // there is a session
	Admin       bool   // the reader may moderate
	OEmbed      string // where programs learn how to embed what is shown; empty: nowhere
	Feed        string // the path of the feed of what it lists, or ""
	Here        string // the path to come back to after signing in, or ""
}

// layout returns what is around the page that answers a request.
func (r *request) layout(title, description string) layout {
	return layout{
		Title: title, Description: description, Reader: r.viewer.User.Name.String(), SignedIn: r.viewer.SignedIn(),
		Here: localPath(r.URL.RequestURI(), ""), Admin: r.viewer.User.Admin,
	}
}

// canonical returns the address of what stands at a path, or "" where the address that people use is not known.
func (p *Pages) canonical(path string) string {
	if p.cfg.PublicURL == "" {
		return ""
	}
	return p.cfg.PublicURL + path
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

// contactLink returns the URL of an address of mail, or of what is one already.
func contactLink(contact string) string {
	if strings.Contains(contact, "://") {
		return contact
	}
	return "mailto:" + contact
}

// signIn returns where to sign in.
func (l *layout) signIn() string {
	if l.Here == "" {
		return pathSignIn
	}
	return pathSignIn + "?next=" + url.QueryEscape(l.Here)
}

// guard sets the headers of a page. One that is its reader's own stays in no cache, and search engines list only what is public.
func guard(w http.ResponseWriter, r *request) {
	header := w.Header()
	header["Content-Type"] = htmlContentType
	header["Content-Security-Policy"] = contentPolicy
	header["Referrer-Policy"] = referrerPolicy
	header["Vary"] = varyCookie
	if r.personal() {
		header["Cache-Control"] = privateCaching
	}
	if !r.public {
		header["X-Robots-Tag"] = noIndex
	}
}

// show writes a page.
func show(w http.ResponseWriter, r *request, page templ.Component) error {
	guard(w, r)
	return write(r.Context(), w, page)
}

// personal reports whether the answer is for its reader alone: there is a session, or a cookie to clear.
func (r *request) personal() bool { return r.viewer.SignedIn() || r.rejected || r.keyed }

// write writes a page. It fails with fault.Unavailable when the time of the context is over.
func write(ctx context.Context, w io.Writer, page templ.Component) error {
	to := &document{w}
	err := page.Render(withMarker(ctx), to)
	to.Writer = nil // templ keeps the document until its buffer is used again
	if err != nil && ctx.Err() != nil {
		return fault.Wrap(fault.Unavailable, "The page was not ready in time. Try again shortly.", err)
	}
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
	guard(w, new(request))
	header["Vary"] = append(slices.Clip(vary), varyCookie...)
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = []string{"no-store"}
	}
	page := errorPage{Heading: http.StatusText(status), Text: message}
	switch status {
	case http.StatusNotFound:
		page.Heading = "There is nothing here"
		page.Text = "It may have expired or been deleted, be private, or never have been here."
	case http.StatusGone:
		page.Heading = "This was removed"
	case http.StatusRequestEntityTooLarge:
		page.Heading = "This is too long"
		page.Text = "Go back, and send less of it. " + message
	case http.StatusBadRequest, http.StatusForbidden, http.StatusConflict:
		if signingIn(r.URL.Path) {
			page.Heading, page.SignIn = "This did not work", true
		}
	case http.StatusUnauthorized:
		page.Heading = "You have not signed in"
		page.Text = "This needs an access token that is valid. Sign in, and try again."
	}
	page.SignIn = page.SignIn || status == http.StatusUnauthorized
	page.SignedIn = status != http.StatusUnauthorized && cookieSecret(r) != "" && header["Set-Cookie"] == nil // which clears the cookie
	page.Title = page.Heading
	if r.Method == http.MethodGet && !signingIn(r.URL.Path) { // a form that was sent is not there, nor a secret that was used
		page.Here = localPath(r.URL.RequestURI(), "")
	}
	w.WriteHeader(status)
	_ = write(context.WithoutCancel(r.Context()), w, p.errorView(page)) // it is short, and a client that has gone cannot be told
}

// signingIn reports whether a path is one of signing in with a provider.
func signingIn(path string) bool {
	return strings.HasPrefix(path, pathSignIn+"/") || strings.HasPrefix(path, pathInvite) || path == pathSignUp
}
