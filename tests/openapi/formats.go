package openapi

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formats are those that the document may use: the validator and kin-openapi ignore unknown ones.
var formats = map[string]*jsonschema.Format{
	"int32": {Name: "int32", Validate: func(value any) error { return integer(value, 32) }},
	"int64": {Name: "int64", Validate: func(value any) error { return integer(value, 64) }},
}

// integer checks for the literal of an integer: strict clients accept neither 1.0 nor 1e3.
func integer(value any, bits int) error {
	number, ok := value.(json.Number)
	if !ok {
		return nil // "type" checks what else is allowed
	}
	if _, err := strconv.ParseInt(number.String(), 10, bits); err != nil {
		return fmt.Errorf("%s is not the literal of an integer of %d bits", number, bits)
	}
	return nil
}
