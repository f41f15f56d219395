package pages

import (
	"io"
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

// robotsText keeps crawlers away from forms and downloads. It does not exclude unlisted pastes: crawlers must read a page to see its
// noindex.
const robotsText = `User-agent: *
Disallow: /sign-in
Disallow: /account
Disallow: /pastes
Disallow: /starred
Disallow: /*/edit
Disallow: /*/fork
Disallow: /*/delete
Disallow: /invite/
Disallow: /*/download/
Disallow: /*/files.zip
`

// robots answers with robots.txt (RFC 9309).
func robots(w http.ResponseWriter, _ *site.Request) error {
	w.Header().Set("Content-Type", site.TextContentType)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, err := io.WriteString(w, robotsText)
	return err
}
