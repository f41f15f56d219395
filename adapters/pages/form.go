package pages

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

var (
	errNoForm     = fault.New(fault.Invalid, "This takes what a form of these pages sends: application/x-www-form-urlencoded.")
	errBrokenForm = fault.New(fault.Invalid, "The form cannot be read. Open the page again, and send it once more.")
)

// form returns the fields of a form that was sent, at most so many of them. That no other site has sent it has been seen to, and
// that it is no longer than a body may be. It fails with fault.Invalid.
func (r *request) form(most int) (url.Values, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/x-www-form-urlencoded" {
		return nil, errNoForm
	}
	var sent strings.Builder
	sent.Grow(int(max(r.ContentLength, 0)))
	if _, err := io.Copy(&sent, r.Body); err != nil {
		return nil, err
	}
	// Each takes many times the two bytes that it has at least.
	if strings.Count(sent.String(), "&") >= most {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("The form has more than %d fields.", most))
	}
	fields, err := url.ParseQuery(sent.String())
	if err != nil {
		return nil, errBrokenForm
	}
	return fields, nil
}

// seeOther has the browser ask for another path once a form was taken (RFC 9110, 15.4.4).
func seeOther(w http.ResponseWriter, path string) {
	header := w.Header()
	header["Cache-Control"] = privateCaching
	header.Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
}

// maxNext is the length of a path to come back to.
const maxNext = 1 << 10

// localPath returns a path of this site with its query, or the other one when it is none: what browsers would take for another
// host's, or correct into that.
func localPath(path, otherwise string) string {
	if len(path) > maxNext || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '\\' }) {
		return otherwise
	}
	if parsed, err := url.Parse(path); err != nil || parsed.Host != "" || parsed.Scheme != "" {
		return otherwise
	}
	return path
}
