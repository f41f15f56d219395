// Package listclient is a client of the lists and stars, generated from the OpenAPI document as third parties would do
// it.
package listclient

//go:generate -command codegen go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
//go:generate codegen -config config.yaml ../../adapters/httpapi/openapi.yaml
