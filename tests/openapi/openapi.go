// Package openapi checks the answers that tests receive against the OpenAPI document.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gluepot/gluepot/adapters/httpapi"
)

// Contract is a document, with the operations and statuses that answers have had. It is safe for concurrent use.
type Contract struct {
	paths      []path
	operations []Operation
	components openapi3.ResponseBodies
	uploads    *openapi3.Responses // answers to uploads outside the paths
	schemas    map[*openapi3.Schema]*jsonschema.Schema

	mu   sync.Mutex
	seen map[string]bool
}

// path is a path of the document.
type path struct {
	name      string
	segments  []string
	noBase    bool // outside the base path
	operation map[string]*openapi3.Operation
}

// Shared returns the contract of this tree's interface, which it compiles once.
var Shared = sync.OnceValues(func() (*Contract, error) {
	_, document := httpapi.OpenAPI("")
	return New(document)
})

// New compiles a document in JSON. It fails if the document or an example is not valid, or if the document allows
// answers that it does not describe.
func New(document []byte) (*Contract, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(document)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(loader.Context); err != nil {
		return nil, err
	}
	schemas, err := newCompiler(document)
	if err != nil {
		return nil, err
	}
	c := &Contract{components: doc.Components.Responses, schemas: map[*openapi3.Schema]*jsonschema.Schema{},
		seen: map[string]bool{}}
	for name, item := range doc.Paths.Map() {
		p := path{name: name, segments: strings.Split(name, "/"), noBase: len(item.Servers) > 0, operation: item.Operations()}
		c.paths = append(c.paths, p)
		for method, operation := range p.operation {
			for status, response := range operation.Responses.Map() {
				if status == "default" {
					return nil, fmt.Errorf("%s %s: got a default response, want one for each status", method, name)
				}
				if err := c.compile(schemas, response.Value); err != nil {
					return nil, fmt.Errorf("%s %s %s: %w", method, name, status, err)
				}
			}
			if p.noBase {
				continue
			}
			operations, err := newOperations(method, name, item.Parameters, operation)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, name, err)
			}
			c.operations = append(c.operations, operations...)
		}
	}
	if raw := doc.Paths.Value("/raw"); raw != nil {
		c.uploads = raw.Put.Responses
	}
	for name, response := range c.components {
		if err := c.compile(schemas, response.Value); err != nil {
			return nil, fmt.Errorf("the response %s: %w", name, err)
		}
	}
	slices.SortFunc(c.paths, func(a, b path) int { // names before parameters
		return strings.Compare(strings.ReplaceAll(a.name, "{", "~"), strings.ReplaceAll(b.name, "{", "~"))
	})
	return c, nil
}

// compile compiles the schemas of a response.
func (c *Contract) compile(schemas *compiler, response *openapi3.Response) error {
	for name, header := range response.Headers {
		if err := c.compileSchema(schemas, header.Value.Schema); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	for mediaType, content := range response.Content {
		if err := c.compileSchema(schemas, content.Schema); err != nil {
			return fmt.Errorf("%s: %w", mediaType, err)
		}
	}
	return nil
}

func (c *Contract) compileSchema(schemas *compiler, schema *openapi3.SchemaRef) (err error) {
	if schema == nil {
		return errors.New("the schema is missing")
	}
	if c.schemas[schema.Value] != nil {
		return nil
	}
	if err := schema.WalkSubtree(checkClosed); err != nil {
		return err
	}
	c.schemas[schema.Value], err = schemas.compile(schema)
	return err
}

// checkClosed returns an error for a schema that allows members that it does not describe.
func checkClosed(pointer string, schema *openapi3.SchemaRef) error {
	s := schema.Value
	if (s.Type.Includes("object") || len(s.Properties) > 0) && s.AdditionalProperties.Has == nil &&
		s.AdditionalProperties.Schema == nil {
		return fmt.Errorf("%s: additionalProperties is missing", pointer)
	}
	if s.Format != "" && formats[s.Format] == nil {
		return fmt.Errorf("%s: the format %q is unknown", pointer, s.Format)
	}
	return nil
}

// Answer is a server's answer to a request.
type Answer struct {
	Method string
	Target string // path and query, as the client sent them
	Status int
	Header http.Header
	Body   []byte
}

// Check returns how an answer of a server with this base path differs from the document, or nil.
func (c *Contract) Check(basePath string, a Answer) error {
	if refusedByNetHTTP(a) {
		return nil
	}
	responses, method, name := c.find(basePath, a)
	response := responses.Status(a.Status)
	if response == nil {
		return fmt.Errorf("%s %s: adapters/httpapi/openapi.yaml does not have the status %d for %s", a.Method, a.Target,
			a.Status, name)
	}
	err := errors.Join(c.checkHeaders(response.Value, a.Header), c.checkBody(response.Value, a))
	if err != nil {
		return fmt.Errorf("%s %s: %d is not as documented for %s: %w\n%.1000s", a.Method, a.Target, a.Status,
			name, err, a.Body)
	}
	if method == a.Method {
		c.mu.Lock()
		c.seen[fmt.Sprintf("%s %d", name, a.Status)] = true
		c.mu.Unlock()
	}
	return nil
}

// refusedByNetHTTP reports whether net/http refused a request before it reached the interface (decision 0026).
func refusedByNetHTTP(a Answer) bool {
	switch a.Status {
	case http.StatusBadRequest, http.StatusRequestHeaderFieldsTooLarge, http.StatusHTTPVersionNotSupported:
		return a.Header.Get("X-Request-Id") == "" && strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain")
	}
	return false
}

// find returns the responses that a request may get, and the operation that it calls.
func (c *Contract) find(basePath string, a Answer) (responses *openapi3.Responses, method, name string) {
	rawPath, _, _ := strings.Cut(a.Target, "?")
	// An escaped slash separates nothing.
	if target, err := url.PathUnescape(rawPath); err == nil && !strings.Contains(strings.ToUpper(rawPath), "%2F") {
		for _, p := range c.paths {
			if !p.fits(basePath, target) {
				continue
			}
			method = a.Method
			if method == http.MethodHead {
				method = http.MethodGet
			}
			if operation := p.operation[method]; operation != nil {
				return operation.Responses, method, method + " " + p.name
			}
			if method == http.MethodOptions {
				return c.elsewhere(http.StatusNoContent, "Options"), "", "OPTIONS"
			}
			if strings.Contains(target, "//") { // only an operation answers an empty parameter
				break
			}
			return c.elsewhere(http.StatusMethodNotAllowed, "MethodNotAllowed"), "", "a method that " + p.name + " does not take"
		}
	}
	if c.uploads != nil && isUpload(a, rawPath) {
		return c.uploads, "", "an upload"
	}
	if rawPath == "/" && (a.Method == http.MethodGet || a.Method == http.MethodHead) {
		return openapi3.NewResponses(openapi3.WithStatus(http.StatusOK, c.components["FrontPage"]),
			openapi3.WithStatus(http.StatusNotModified, c.components["FrontPageNotModified"])), "", "the page at /"
	}
	return c.elsewhere(http.StatusNotFound, "NothingHere"), "", "an unknown path"
}

// isUpload reports whether a request outside the paths is an upload, which is answered as PUT /raw is. One with the
// status 404 is not: a POST that is not a form, or a name that begins a path of the interface.
func isUpload(a Answer, target string) bool {
	if a.Method == http.MethodPost {
		return target == "/" && a.Status != http.StatusNotFound
	}
	oneName := strings.Count(strings.TrimSuffix(target, "/"), "/") <= 1 && !strings.Contains(strings.ToUpper(target),
		"%2F")
	return a.Method == http.MethodPut && oneName && strings.HasPrefix(target, "/") && a.Status != http.StatusNotFound
}

// elsewhere returns the response for requests that match no operation.
func (c *Contract) elsewhere(status int, component string) *openapi3.Responses {
	return openapi3.NewResponses(openapi3.WithStatus(status, c.components[component]))
}

func (p path) fits(basePath, target string) bool {
	if !p.noBase {
		below, ok := strings.CutPrefix(target, basePath)
		if !ok {
			return false
		}
		target = below
	}
	segments := strings.Split(strings.TrimSuffix(target, "/"), "/")
	return slices.EqualFunc(p.segments, segments, func(pattern, segment string) bool {
		return pattern == segment || strings.HasPrefix(pattern, "{")
	})
}

// general are the headers that any answer may have. The document's introduction describes those that HTTP does not.
var general = map[string]bool{
	"Date": true, "Connection": true, "Content-Length": true, "Content-Type": true, "Transfer-Encoding": true,
	"X-Content-Type-Options": true, "Content-Security-Policy": true, "Referrer-Policy": true,
	"Access-Control-Allow-Origin": true, "Access-Control-Expose-Headers": true, "X-Robots-Tag": true,
	"Ratelimit": true, "Ratelimit-Policy": true,
}

func (c *Contract) checkHeaders(response *openapi3.Response, header http.Header) error {
	var wrong []error
	documented := map[string]bool{}
	for name, specification := range response.Headers {
		canonical := http.CanonicalHeaderKey(name)
		documented[canonical] = true
		values, ok := header[canonical]
		if !ok {
			if specification.Value.Required {
				wrong = append(wrong, fmt.Errorf("the header %s is missing", name))
			}
			continue
		}
		if err := c.schemas[specification.Value.Schema.Value].Validate(strings.Join(values, ", ")); err != nil {
			wrong = append(wrong, fmt.Errorf("the header %s: %q: %w", name, values, err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if !documented[name] && !general[name] {
			wrong = append(wrong, fmt.Errorf("the header %s is not documented: %q", name, header[name]))
		}
	}
	return errors.Join(wrong...)
}

func (c *Contract) checkBody(response *openapi3.Response, a Answer) error {
	contentType := a.Header.Get("Content-Type")
	if len(response.Content) == 0 {
		if contentType != "" || len(a.Body) > 0 {
			return fmt.Errorf("got a body of %d bytes, %q, want none", len(a.Body), contentType)
		}
		return nil
	}
	content := response.Content[contentType]
	if content == nil {
		return fmt.Errorf("the media type %q is not documented", contentType)
	}
	if a.Method == http.MethodHead {
		if len(a.Body) > 0 {
			return fmt.Errorf("got a body of %d bytes, want none", len(a.Body))
		}
		return nil
	}
	if !utf8.Valid(a.Body) {
		return errors.New("the body is not valid UTF-8")
	}
	var value any = string(a.Body)
	if mediaType, _, err := mime.ParseMediaType(contentType); err != nil {
		return err
	} else if strings.HasSuffix(mediaType, "json") {
		if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(a.Body)); err != nil {
			return err
		}
	}
	return c.schemas[content.Schema.Value].Validate(value)
}

// Unseen returns the operations and statuses that no answer has had yet, one line each.
func (c *Contract) Unseen() (lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.paths {
		for method, operation := range p.operation {
			for status := range operation.Responses.Map() {
				if line := method + " " + p.name + " " + status; !c.seen[line] {
					lines = append(lines, line)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// compiler compiles schemas that refer to others of their document.
type compiler struct {
	*jsonschema.Compiler

	inline int // number of schemas without a name
}

const location = "mem:///openapi.json"

func newCompiler(document []byte) (*compiler, error) {
	c := &compiler{Compiler: jsonschema.NewCompiler()}
	c.AssertFormat()
	for _, format := range formats {
		c.RegisterFormat(format)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err == nil {
		err = c.AddResource(location, value)
	}
	return c, err
}

func (c *compiler) compile(schema *openapi3.SchemaRef) (*jsonschema.Schema, error) {
	if schema.Ref != "" {
		return c.Compile(location + schema.Ref)
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(`"#/components/`), []byte(`"`+location+`#/components/`))
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c.inline++
	name := fmt.Sprintf("mem:///inline/%d.json", c.inline)
	if err := c.AddResource(name, parsed); err != nil {
		return nil, err
	}
	return c.Compile(name)
}
