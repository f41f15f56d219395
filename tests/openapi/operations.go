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

// Operation is a request that calls an operation of the document, made of its examples.
type Operation struct {
	Name           string // "GET /paste/{id}"
	Method, Target string
	Headers        []string // without a token
	Body           string   // "" for none
	Token          bool     // whether to send it with a token

	operation *openapi3.Operation
}

// Documents reports whether the document has this status for it.
func (o Operation) Documents(status int) bool { return o.operation.Responses.Status(status) != nil }

// Operations returns all operations but the health checks. If a token is optional, there is one with and one without.
func (c *Contract) Operations() []Operation { return c.operations }

// NameOf returns the Name of the operation that takes a request, or other text if none does.
func (c *Contract) NameOf(method, target string) string {
	_, _, name := c.find("", Answer{Method: method, Target: target})
	return name
}

func newOperations(method, path string, parameters openapi3.Parameters,
	operation *openapi3.Operation) (operations []Operation, err error) {
	o := Operation{Name: method + " " + path, Method: method, Target: path, operation: operation}
	query := url.Values{}
	for _, ref := range slices.Concat(parameters, operation.Parameters) {
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
	if operation.RequestBody != nil {
		if o.Body, err = exampleOf(operation.RequestBody.Value); err != nil {
			return nil, err
		}
	}
	schemes := operation.Security
	if schemes == nil || len(*schemes) == 0 || slices.ContainsFunc(*schemes,
		func(scheme openapi3.SecurityRequirement) bool {
			return len(scheme) == 0
		}) {
		operations = append(operations, o)
	}
	if schemes != nil && len(*schemes) > 0 {
		o.Token = true
		operations = append(operations, o)
	}
	return operations, nil
}

// exampleOf returns the shortest example of a body.
func exampleOf(body *openapi3.RequestBody) (shortest string, err error) {
	for _, content := range body.Content {
		examples := []any{content.Example}
		for _, example := range content.Examples {
			examples = append(examples, example.Value.Value)
		}
		for _, example := range examples {
			text, ok := example.(string)
			if !ok && example != nil {
				data, err := json.Marshal(example)
				if err != nil {
					return "", err
				}
				text = string(data)
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
