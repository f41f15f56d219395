package site

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/klauspost/compress/gzhttp"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/domain/fault"
)

// ContentPolicy is the policy of most pages. They load files only from this site, have no inline scripts or styles, are
// not framed, and send forms only to this site.
const ContentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// FormPolicy is for a page with the form of a paste. Its script requests languages and previews, sends encrypted
// pastes, and may add the styles of the editor with that nonce.
func FormPolicy(nonce string) string {
	return strings.Replace(ContentPolicy, "style-src 'self'",
		"style-src 'self' 'nonce-"+nonce+"'", 1) + "; connect-src 'self'"
}

// AskingPolicy is for a page whose script sends requests to this site.
const AskingPolicy = ContentPolicy + "; connect-src 'self'"

// NewNonce returns a value that the Content-Security-Policy and the scripts of one answer share.
func NewNonce() string { return rand.Text() }

// Layout has what all pages share: their head, header and footer.
type Layout struct {
	Title       string // of the window, before the service's name
	Description string // for previews of links; empty: none
	Address     string // of the page, for previews of links; empty: none
	Picture     string // the address of a picture of the page, for previews of links; empty: none
	Canonical   string // the path of the canonical link, or ""
	Reader      string // the name of the signed-in user, or ""
	SignedIn    bool   // there is a session
	Admin       bool   // the reader may moderate
	OEmbed      string // the path of its oEmbed answer, or ""
	Feed        string // the path of its feed, or ""
	Here        string // the path to return to after signing in, or ""
	Nonce       string // of the policy, for the editor's styles; empty: there is no editor
	CSRF        string // of OwnForm; empty: no session
	Scheme      string // the chosen colours
	here        string // the path of the page
	Fixed       bool   // the page cannot be reloaded, so it does not offer other colours
}

// Layout returns the layout of a page.
func (r *Request) Layout(title, description string) Layout {
	page := Layout{
		Title: title, Description: description, Reader: r.Viewer.User.Name.String(), SignedIn: r.Viewer.SignedIn(),
		Here: LocalPath(r.URL.RequestURI(), ""), Admin: r.Viewer.User.Admin,
		Scheme: r.scheme(), Fixed: r.Method == http.MethodPost, here: r.URL.Path,
	}
	if page.SignedIn {
		page.CSRF = CSRFToken(r)
	}
	return page
}

// at reports whether the page is at a path.
func (l *Layout) at(path string) bool {
	return l.here == path
}

// Window returns the title of the browser window.
func (s *Site) Window(page Layout) string {
	if page.Title == "" {
		return s.Config.SiteName
	}
	return page.Title + " · " + s.Config.SiteName
}

// contactLink returns the mailto: URL of a mail address. It returns a URL unchanged.
func contactLink(contact string) string {
	if strings.Contains(contact, "://") {
		return contact
	}
	return "mailto:" + contact
}

// SignInPath returns the path of the sign-in page, which returns here.
func (l *Layout) SignInPath() string {
	if l.Here == "" {
		return PathSignIn
	}
	return PathSignIn + "?next=" + url.QueryEscape(l.Here)
}

// Guard sets the headers of a page. Personal pages stay out of caches, and search engines list only public ones.
func Guard(w http.ResponseWriter, r *Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", cmp.Or(r.Policy, ContentPolicy))
	// With no-referrer, browsers send "Origin: null" with forms. Proxies may add that header, so the layout says it, too.
	header.Set("Referrer-Policy", "same-origin")
	if !r.Everyone {
		header.Add("Vary", "Cookie") // errors already have a Vary
	}
	if r.Viewer.SignedIn() || r.Rejected || r.Keyed { // the page depends on a cookie
		KeepPrivate(w)
	}
	if !r.Public {
		header.Set("X-Robots-Tag", "noindex")
	}
}

// The content types of files and archives.
const (
	TextContentType = "text/plain; charset=utf-8"
	ZipContentType  = "application/zip"
)

// Enclose sets the headers of an answer that is not a page. With a file name it becomes a download.
func Enclose(w http.ResponseWriter, r *Request, contentType, filename string) {
	r.Policy = "default-src 'none'; frame-ancestors 'none'; sandbox"
	Guard(w, r)
	w.Header().Set("Content-Type", contentType)
	if filename != "" {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": filename}))
	}
}

// Show writes a page with the status 200, unless there was an error.
func Show(w http.ResponseWriter, r *Request, page templ.Component, err error) error {
	if err != nil {
		return err
	}
	return ShowAs(w, r, http.StatusOK, page)
}

// ShowAs writes a page with a status. "Bearer" keeps browsers from asking for a password.
func ShowAs(w http.ResponseWriter, r *Request, status int, page templ.Component) error {
	Guard(w, r)
	if r.Method == http.MethodPost {
		KeepPrivate(w) // keep typed text out of caches
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer") // required with 401 (RFC 9110, 15.5.2)
	}
	w.WriteHeader(status)
	return Write(r.Context(), w, page)
}

// Write renders a page. It fails with fault.Busy if the context ends.
func Write(ctx context.Context, w io.Writer, page templ.Component) error {
	to := &document{ctx, w}
	err := page.Render(marks.With(ctx), to)
	*to = document{} // templ's pooled buffer keeps a reference to it
	if err != nil && ctx.Err() != nil {
		return fault.Wrap(fault.Busy, "The page was not ready in time. Try again shortly.", err)
	}
	return err
}

// document is a writer that ends with a context. It replaces U+0000, which HTML forbids and templ does not escape. It
// hides Flush from templ, because a page is sent only when it is complete.
type document struct {
	ctx context.Context //nolint:containedctx // that of rendering
	to  io.Writer
}

func (d *document) Write(b []byte) (int, error) {
	if d.ctx.Err() != nil {
		return 0, context.Cause(d.ctx)
	}
	length := len(b)
	if bytes.IndexByte(b, 0) >= 0 { // ReplaceAll always makes a copy
		b = bytes.ReplaceAll(b, []byte{0}, marks.Replacement)
	}
	_, err := d.to.Write(b)
	return length, err
}

// Address returns the URL of this site, to which its paths are relative.
func (s *Site) Address(r *http.Request) string {
	return cmp.Or(s.Config.PublicURL, r.URL.Scheme+"://"+r.Host)
}

// ShowsSecret keeps a page that shows a secret, such as a new token, from being compressed: an attacker who controls
// other text on the page could guess the secret from the length (the BREACH attack).
func ShowsSecret(w http.ResponseWriter) { w.Header().Set(gzhttp.HeaderNoCompression, "1") }

// KeepPrivate keeps an answer out of all caches.
func KeepPrivate(w http.ResponseWriter) { w.Header().Set("Cache-Control", "private, no-store") }
