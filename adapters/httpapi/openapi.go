package httpapi

import (
	"bytes"
	_ "embed"

	"github.com/gin-gonic/gin"
)

// openapi.yaml is written by hand, and openapi.json made from it, so that the program needs nothing that reads YAML.
//
//go:generate go test -run TestOpenAPIFile -update .

var (
	//go:embed openapi.yaml
	openAPIYAML []byte
	//go:embed openapi.json
	openAPIJSON []byte
)

// OpenAPI returns the document that describes the interface below a base path, in two notations.
func OpenAPI(basePath string) (yaml, json []byte) {
	yaml, json = sharedOpenAPI(basePath)
	return bytes.Clone(yaml), bytes.Clone(json)
}

// sharedOpenAPI is OpenAPI for those who change nothing: without a base path, nothing of the document is in the heap.
func sharedOpenAPI(basePath string) (yaml, json []byte) {
	if basePath == "" {
		return openAPIYAML, openAPIJSON
	}
	// The first URL is the server's. A base path has no character that either notation would have to escape.
	return bytes.Replace(openAPIYAML, []byte("url: /"), []byte("url: "+basePath), 1),
		bytes.Replace(openAPIJSON, []byte(`"url": "/"`), []byte(`"url": "`+basePath+`"`), 1)
}

var yamlContentType = []string{"application/yaml"} // RFC 9512

// fixedAnswer is an answer that is made once, and is the same for everybody.
type fixedAnswer struct {
	contentType, etag []string
	policy            []string // of its content, or nil where nothing is allowed
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
