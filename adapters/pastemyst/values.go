package pastemyst

import (
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/gluepot/gluepot/application/imports"
)

// number is a whole number, plain or in MongoDB's extended JSON: {"$numberLong":"24"}, {"$numberInt":"24"},
// {"$numberDouble":"24.0"}.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(text []byte) error {
	plain := string(text)
	if plain == "null" {
		return nil
	}
	if text[0] == '{' {
		var extended struct {
			Long   string `json:"$numberLong"`
			Int    string `json:"$numberInt"`
			Double string `json:"$numberDouble"`
		}
		if err := json.Unmarshal(text, &extended); err != nil {
			return err
		}
		plain = extended.Long + extended.Int + extended.Double // exactly one is set
	}
	if whole, err := strconv.ParseInt(plain, 10, 64); err == nil {
		*n = number(whole)
		return nil
	}
	float, err := strconv.ParseFloat(plain, 64)
	if err != nil || float != math.Trunc(float) || math.Abs(float) > 1<<53 {
		return errNotJSON
	}
	*n = number(float)
	return nil
}

// time returns the time at that many seconds since 1970.
func (n number) time() time.Time { return time.Unix(int64(n), 0).UTC() }

// binary is the bytes of a string as they are, or bytes in MongoDB's extended JSON:
// {"$binary":{"base64":"AA==","subType":"00"}} or, from older programs, {"$binary":"AA==","$type":"00"}.
type binary []byte

// UnmarshalJSON implements json.Unmarshaler.
func (b *binary) UnmarshalJSON(text []byte) error {
	var plain string
	var older struct {
		Binary *[]byte `json:"$binary"`
	}
	var extended struct {
		Binary struct {
			Base64 *[]byte `json:"base64"`
		} `json:"$binary"`
	}
	switch {
	case json.Unmarshal(text, &plain) == nil:
		*b = binary(plain)
	case json.Unmarshal(text, &older) == nil && older.Binary != nil:
		*b = *older.Binary
	case json.Unmarshal(text, &extended) == nil && extended.Binary.Base64 != nil:
		*b = *extended.Binary.Base64
	default:
		return errNotJSON
	}
	return nil
}

// list is an array with a limited number of elements, none of them null. It is nil when the document lacks it.
type list[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *list[T]) UnmarshalJSON(text []byte) error {
	return unmarshalList(text, max(imports.MaxParts, imports.MaxStars), (*[]T)(l))
}

// metadata is the metadata of an edit: a list, to which PasteMyst writes three texts at most.
type metadata []string

// UnmarshalJSON implements json.Unmarshaler.
func (m *metadata) UnmarshalJSON(text []byte) error { return unmarshalList(text, 16, (*[]string)(m)) }

// unmarshalList counts the elements before it decodes them: millions of empty ones would take many times the record's
// length in memory.
func unmarshalList[T any](text []byte, limit int, to *[]T) error {
	var elements []notNull // takes no memory
	if err := json.Unmarshal(text, &elements); err != nil {
		return err
	}
	if len(elements) > limit {
		return errNotJSON
	}
	return json.Unmarshal(text, to)
}

// notNull is any value but null.
type notNull struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*notNull) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return errNotJSON
	}
	return nil
}

// services maps names of providers to accounts. It leaves out empty ones, which were never linked.
type services map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (s *services) UnmarshalJSON(text []byte) error {
	if len(text) > 1<<20 { // far more than imports.MaxIdentities
		return errNotJSON
	}
	err := json.Unmarshal(text, (*map[string]string)(s))
	maps.DeleteFunc(*s, func(_, id string) bool { return id == "" })
	return err
}
