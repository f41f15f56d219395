package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	_ "embed"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui/v5/static"

	"github.com/gluepot/gluepot/domain/fault"
)

// assets are the pages and their files. "{base}" in them becomes the base path, which needs no escaping in HTML.
//
//go:embed assets
var assets embed.FS

func asset(name, basePath string) ([]byte, error) {
	text, err := assets.ReadFile("assets/" + name)
	return []byte(strings.ReplaceAll(string(text), "{base}", basePath)), err
}

var (
	htmlContentType       = []string{"text/html; charset=utf-8"}
	stylesheetContentType = []string{"text/css; charset=utf-8"}
	scriptContentType     = []string{"text/javascript; charset=utf-8"}
	pictureContentType    = []string{"image/svg+xml"}
)

// docsPolicy lets the page load from this server and call it. Swagger UI's stylesheet contains data: pictures.
var docsPolicy = []string{"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

// docs is Swagger UI: its page and the files that it loads.
type docs struct {
	page  *fixedAnswer
	files map[string]docsFile
}

// docsFile answers with a file. It fails only if the program was built wrong.
type docsFile func(c *gin.Context) error

func newDocs(basePath string) (*docs, error) {
	text, err := asset("docs.html", basePath)
	if err != nil {
		return nil, err
	}
	d := &docs{page: newFixedAnswer(htmlContentType, text), files: map[string]docsFile{
		"swagger-ui.css":       compressedFile("swagger-ui.css.gz", stylesheetContentType),
		"swagger-ui-bundle.js": compressedFile("swagger-ui-bundle.js.gz", scriptContentType),
	}}
	d.page.policy = docsPolicy
	for name, contentType := range map[string][]string{
		"page.css": stylesheetContentType, "docs.css": stylesheetContentType, "docs.js": scriptContentType, "icon.svg": pictureContentType,
	} {
		content, err := asset(name, basePath)
		if err != nil {
			return nil, err
		}
		answer := newFixedAnswer(contentType, content).answer
		d.files[name] = func(c *gin.Context) error { answer(c); return nil }
	}
	return d, nil
}

var errNoFile = fault.New(fault.NotFound, messageNothingHere)

func (d *docs) file(_ context.Context, c *gin.Context) error {
	answer, ok := d.files[c.Param("file")]
	if !ok {
		return errNoFile
	}
	return answer(c)
}

var (
	varyEncoding    = []string{"Origin, Accept-Encoding"}
	gzipCompression = []string{"gzip"}
)

// compressedFile answers with a file of Swagger UI that the program holds compressed: as it is, or decompressed on the way.
func compressedFile(name string, contentType []string) docsFile {
	return func(c *gin.Context) error {
		header := c.Writer.Header()
		header["Vary"] = varyEncoding
		accepted := strings.ReplaceAll(c.Request.Header.Get("Accept-Encoding"), " ", "")
		packed := strings.Contains(accepted, "gzip") && !strings.Contains(accepted, "gzip;q=0") // nor a weight below 1, which needs no gzip
		if packed {
			header["Content-Encoding"] = gzipCompression
		}
		return sendStream(c, contentType, true, func(to io.Writer) error {
			content, err := static.FS.Open(name)
			if err != nil {
				return err
			}
			defer content.Close() //nolint:errcheck // it holds nothing
			body := io.Reader(content)
			if !packed {
				if body, err = gzip.NewReader(content); err != nil {
					return err
				}
			}
			_, err = io.Copy(to, body) //nolint:gosec // the file is our own
			return err
		})
	}
}

// openapi.json is generated from openapi.yaml, so that the program needs no YAML parser.
//
//go:generate go test -run TestOpenAPIFile -update .

var (
	//go:embed openapi.yaml
	openAPIYAML []byte
	//go:embed openapi.json
	openAPIJSON []byte
)

// OpenAPI returns the OpenAPI document of the interface below a base path, in two notations. Callers must not change it.
func OpenAPI(basePath string) (yaml, json []byte) {
	if basePath == "" {
		return openAPIYAML, openAPIJSON
	}
	// The first URL is the server's. A base path needs no escaping in either notation.
	return bytes.Replace(openAPIYAML, []byte("url: /"), []byte("url: "+basePath), 1),
		bytes.Replace(openAPIJSON, []byte(`"url": "/"`), []byte(`"url": "`+basePath+`"`), 1)
}

var yamlContentType = []string{"application/yaml"} // RFC 9512

// fixedAnswer is an answer that never changes while the program runs.
type fixedAnswer struct {
	contentType, etag []string
	policy            []string // Content-Security-Policy; nil: nothing is allowed
	body              []byte
}

func newFixedAnswer(contentType []string, body []byte) *fixedAnswer {
	return &fixedAnswer{contentType: contentType, etag: []string{etagOf(body)}, body: body}
}

func (f *fixedAnswer) answer(c *gin.Context) {
	header := c.Writer.Header()
	header["Cache-Control"] = noCache // it changes with the program
	header["Vary"] = varyOrigin
	if f.policy != nil {
		header["Content-Security-Policy"] = f.policy
	}
	writeUnlessKnown(c, f.contentType, f.etag, f.body)
}

// frontPolicy is the policy of a page without scripts.
var frontPolicy = []string{"default-src 'none'; style-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

// newFront returns the page at "/" of a server without Pages.
func newFront(basePath string) (*fixedAnswer, error) {
	text, err := asset("front.html", basePath)
	if err != nil {
		return nil, err
	}
	front := newFixedAnswer(htmlContentType, text)
	front.policy = frontPolicy
	return front, nil
}

// showsFront reports whether a request without a route gets the front page.
func showsFront(r *http.Request) bool {
	return r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}
