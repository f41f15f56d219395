package site

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/domain/fault"
)

// A page loads and runs what comes from here alone and in files of its own, is shown in no frame, and sends what is filled in
// nowhere else.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// FormPolicy is the policy of a page whose script sends an encrypted paste.
const FormPolicy = contentPolicy + "; connect-src 'self'"

// Layout is the frame of all pages.
type Layout struct {
	Title       string // of the window, before the service's name; empty: that alone
	Description string // for previews of links; empty: none
	Canonical   string // the address of the page, or "" where it is not known or does not matter
	Reader      string // the name of the signed-in user, or ""
	SignedIn    bool   // there is a session
	Admin       bool   // the reader may moderate
	OEmbed      string // the path for programs that embed the page, or ""
	Feed        string // the path of the feed of what it lists, or ""
	Here        string // the path to come back to after signing in, or ""
}

// Layout returns the frame of the page for a request.
func (r *Request) Layout(title, description string) Layout {
	return Layout{
		Title: title, Description: description, Reader: r.Viewer.User.Name.String(), SignedIn: r.Viewer.SignedIn(),
		Here: LocalPath(r.URL.RequestURI(), ""), Admin: r.Viewer.User.Admin,
	}
}

// Canonical returns the absolute address of a path, or "" if the public address is not known.
func (s *Site) Canonical(path string) string {
	if s.Config.PublicURL == "" {
		return ""
	}
	return s.Config.PublicURL + path
}

// Service is its name as people read it.
const Service = "Gluepot"

// Window returns the title of the window.
func (l *Layout) Window() string {
	if l.Title == "" {
		return Service
	}
	return l.Title + " · " + Service
}

// contactLink returns the URL of a mail address, or a URL as it is.
func contactLink(contact string) string {
	if strings.Contains(contact, "://") {
		return contact
	}
	return "mailto:" + contact
}

// SignInPath returns where to sign in.
func (l *Layout) SignInPath() string {
	if l.Here == "" {
		return PathSignIn
	}
	return PathSignIn + "?next=" + url.QueryEscape(l.Here)
}

// Guard sets the headers of a page. One that is its reader's own stays in no cache, and search engines list only what is public.
func Guard(w http.ResponseWriter, r *Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send "Origin: null" with forms
	header.Set("Vary", "Cookie")
	if r.personal() {
		KeepPrivate(w)
	}
	if !r.Public {
		header.Set("X-Robots-Tag", "noindex")
	}
}

// Show writes a page.
func Show(w http.ResponseWriter, r *Request, page templ.Component) error {
	Guard(w, r)
	return Write(r.Context(), w, page)
}

// ShowAs writes a page as the answer of that status.
func ShowAs(w http.ResponseWriter, r *Request, status int, page templ.Component) error {
	Guard(w, r)
	WriteStatus(w, status)
	return Write(r.Context(), w, page)
}

// personal reports whether the answer is private: there is a session, or a cookie to clear.
func (r *Request) personal() bool { return r.Viewer.SignedIn() || r.Rejected || r.Keyed }

// Write writes a page. It fails with fault.Unavailable when the time of the context is over.
func Write(ctx context.Context, w io.Writer, page templ.Component) error {
	to := &document{w}
	err := page.Render(marks.With(ctx), to)
	to.Writer = nil // templ keeps the document until its buffer is used again
	if err != nil && ctx.Err() != nil {
		return fault.Wrap(fault.Unavailable, "The page was not ready in time. Try again shortly.", err)
	}
	return err
}

// document is what pages are written to. HTML cannot hold U+0000, which templ leaves as it is. And it cannot be flushed, what templ
// would do with each page: whether a page is sent is decided when it is complete.
type document struct{ io.Writer }

var null = []byte{0}

func (d *document) Write(b []byte) (int, error) {
	if bytes.IndexByte(b, 0) < 0 {
		return d.Writer.Write(b)
	}
	if _, err := d.Writer.Write(bytes.ReplaceAll(b, null, marks.Replacement)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Origin returns the address of this site.
func (s *Site) Origin(r *http.Request) string {
	return cmp.Or(s.Config.PublicURL, r.URL.Scheme+"://"+r.Host)
}

// KeepPrivate keeps an answer out of all caches.
func KeepPrivate(w http.ResponseWriter) { w.Header().Set("Cache-Control", "private, no-store") }
