package httpapi

import (
	"bytes"
	"cmp"
	"embed"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui/v5/static"
)

// assets has the page of the API's documentation and its files. "{base}" in them becomes the base path, which needs no
// escaping in HTML, and "{home}" a link to the pages, if there are any.
//
//go:embed assets
var assets embed.FS

// docsPolicy lets the page load from this server and call it. Swagger UI's stylesheet contains data: pictures.
var docsPolicy = []string{
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

// newDocs returns Swagger UI: the files that its page loads, by name, and the page itself as "". Swagger UI's own files
// are sent as they are embedded: compressed by gzip, which every browser takes.
func newDocs(mount, basePath string, pages bool) map[string]*fixedAnswer {
	docs, home := make(map[string]*fixedAnswer), ""
	if pages {
		home = `<p class="home"><a href="` + mount + `/">Back to pastes</a></p>` + "\n"
	}
	fill := strings.NewReplacer("{base}", mount+basePath, "{home}", home)
	for name, contentType := range map[string]string{
		"": "text/html; charset=utf-8", "icon.svg": "image/svg+xml",
		"docs.css": "text/css; charset=utf-8", "swagger-ui.css": "text/css; charset=utf-8",
		"docs.js": "text/javascript; charset=utf-8", "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
	} {
		if file, err := assets.ReadFile("assets/" + cmp.Or(name, "docs.html")); err == nil {
			docs[name] = newFixedAnswer([]string{contentType}, []byte(fill.Replace(string(file))))
			continue
		}
		compressed, _ := static.FS.ReadFile(name + ".gz")
		docs[name] = newFixedAnswer([]string{contentType}, compressed)
		docs[name].header["Content-Encoding"] = []string{"gzip"}
	}
	docs[""].header["Content-Security-Policy"] = docsPolicy
	return docs
}

func (a *API) docsFile(c *gin.Context) {
	if file := a.docs[c.Param("file")]; file != nil {
		file.send(c)
		return
	}
	a.fail(c, errNotFound)
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

// OpenAPI returns the OpenAPI document of the API below a base path, in YAML and JSON. Callers must not change it.
func OpenAPI(basePath string) (yaml, json []byte) {
	if basePath == "" {
		return openAPIYAML, openAPIJSON
	}
	// The first URL is the server's. A base path needs no escaping in either notation.
	return bytes.Replace(openAPIYAML, []byte("url: /"), []byte("url: "+basePath), 1),
		bytes.Replace(openAPIJSON, []byte(`"url": "/"`), []byte(`"url": "`+basePath+`"`), 1)
}
