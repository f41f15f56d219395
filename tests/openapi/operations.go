package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Operation is one of the document as a request, with the document's examples.
type Operation struct {
	Name           string // "GET /paste/{id}"
	Method, Target string
	Headers        []string // without a token
	Body           string   // "" for none
	Token          bool     // whether it is to be sent with one

	described *openapi3.Operation
}

// Documents reports whether an answer may have that status.
func (o Operation) Documents(status int) bool { return o.described.Responses.Status(status) != nil }

// Operations returns all but the health checks. Those that may have a token are there with and without one.
func (c *Contract) Operations() []Operation { return c.operations }

// NameOf returns the Name of the operation that takes a request, or other text if none does.
func (c *Contract) NameOf(method, target string) string {
	_, _, name := c.find("", Answer{Method: method, Target: target})
	return name
}

func newOperations(method, path string, parameters openapi3.Parameters,
	described *openapi3.Operation) (made []Operation, err error) {
	o := Operation{Name: method + " " + path, Method: method, Target: path, described: described}
	query := url.Values{}
	for _, ref := range slices.Concat(parameters, described.Parameters) {
		switch p := ref.Value; {
		case p.Required && p.Example == nil:
			return nil, fmt.Errorf("the parameter %s has no example", p.Name)
		case p.In == openapi3.ParameterInPath:
			o.Target = strings.ReplaceAll(o.Target, "{"+p.Name+"}", fmt.Sprint(p.Example))
		case p.In == openapi3.ParameterInQuery && p.Required:
			query.Set(p.Name, fmt.Sprint(p.Example))
		case p.In == openapi3.ParameterInHeader && p.Example != nil:
			o.Headers = append(o.Headers, p.Name+": "+fmt.Sprint(p.Example))
		}
	}
	if len(query) > 0 {
		o.Target += "?" + query.Encode()
	}
	if described.RequestBody != nil {
		if o.Body, err = exampleOf(described.RequestBody.Value); err != nil {
			return nil, err
		}
	}
	ways := described.Security
	if ways == nil || len(*ways) == 0 || slices.ContainsFunc(*ways, func(way openapi3.SecurityRequirement) bool {
		return len(way) == 0
	}) {
		made = append(made, o)
	}
	if ways != nil && len(*ways) > 0 {
		o.Token = true
		made = append(made, o)
	}
	return made, nil
}

// exampleOf returns the shortest example of a body, which asks for least.
func exampleOf(body *openapi3.RequestBody) (shortest string, err error) {
	for _, content := range body.Content {
		examples := []any{content.Example}
		for _, example := range content.Examples {
			examples = append(examples, example.Value.Value)
		}
		for _, example := range examples {
			text, ok := example.(string)
			if !ok && example != nil {
				encoded, err := json.Marshal(example)
				if err != nil {
					return "", err
				}
				text = string(encoded)
			}
			if shortest == "" || text != "" && len(text) < len(shortest) {
				shortest = text
			}
		}
	}
	if shortest == "" {
		return "", errors.New("the body has no example")
	}
	return shortest, nil
}
