package httpapi

import (
	"compress/gzip"
	"context"
	"embed"
	"io"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui/v5/static"

	"github.com/gluepot/gluepot/domain/fault"
)

// assets are what people see, and what that loads. "{base}" in them stands for the base path, which has no character that HTML
// would have to escape.
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

// docsPolicy lets the page load from this server alone, and ask it. Swagger UI's stylesheet has small pictures in itself.
var docsPolicy = []string{"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

// docs is the page that shows the interface, which is Swagger UI, with the files that it loads.
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
		packed := acceptsGzip(c.Request.Header["Accept-Encoding"])
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
