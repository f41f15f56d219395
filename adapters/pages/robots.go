package pages

import (
	"io"
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

// robotsText asks crawlers to stay away from forms and copies. What is not public is not named: its pages say noindex, which a
// crawler that may not read them would never see.
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

// robots tells crawlers which paths to skip (RFC 9309).
func robots(w http.ResponseWriter, _ *site.Request) error {
	w.Header().Set("Content-Type", site.TextContentType)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, err := io.WriteString(w, robotsText)
	return err
}
