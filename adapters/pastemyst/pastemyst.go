// Package pastemyst reads what mongoexport writes from the database of a PasteMyst v2 installation: one
// JSON document on each line, plain or compressed by gzip.
package pastemyst

import (
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/fault"
)

var (
	errNotJSON = fault.New(fault.Invalid, "The record is not a JSON object of the expected form.")
	errNotUTF8 = fault.New(fault.Invalid, "The record is not valid UTF-8.")
)

// userDocument is a document of the users collection.
type userDocument struct {
	ID              string       `json:"_id"`
	Name            string       `json:"username"`
	AvatarURL       *string      `json:"avatarUrl"`
	DefaultLanguage *string      `json:"defaultLang"`
	PublicProfile   *bool        `json:"publicProfile"`
	Contributor     *bool        `json:"contributor"`
	SupporterMonths *number      `json:"supporterLength"`
	Stars           list[string] `json:"stars"`
	Services        services     `json:"serviceIds"`
}

// Users reads the users collection.
func Users(r io.Reader) imports.Records[imports.User] {
	return read(r, func(d userDocument) imports.User {
		return imports.User{
			ID: d.ID, Name: d.Name, AvatarURL: d.AvatarURL, DefaultLanguage: d.DefaultLanguage, PublicProfile: d.PublicProfile,
			Contributor: d.Contributor, SupporterMonths: (*int64)(d.SupporterMonths), Stars: d.Stars, Identities: d.Services,
		}
	})
}

// keyDocument is a document of the api-keys collection.
type keyDocument struct {
	Owner string `json:"_id"`
	Text  string `json:"key"`
}

// Keys reads the api-keys collection.
func Keys(r io.Reader) imports.Records[imports.Key] {
	return read(r, func(d keyDocument) imports.Key { return imports.Key(d) })
}

// read yields one record for each line that is not blank. A broken document yields a record with an error, and reading
// continues after it. An error beside the record means that nothing more can be read. A record's text is valid only
// until the next record.
func read[D, R any](r io.Reader, record func(D) R) imports.Records[R] {
	return func(yield func(imports.Record[R], error) bool) {
		plain, err := open(r)
		if err != nil {
			yield(imports.Record[R]{}, err)
			return
		}
		var text []byte
		for line := 1; err == nil; line++ {
			var tooLong bool
			text, tooLong, err = readLine(plain, text[:0])
			switch {
			case err != nil && !errors.Is(err, io.EOF), len(text) == 0:
				continue
			case line == 1 && text[0] == '[':
				yield(imports.Record[R]{}, errArray)
				return
			}
			result := imports.Record[R]{Line: line, Raw: text}
			var decoded D
			if tooLong {
				result.Err = errTooLong
			} else if result.Err = decode(text, &decoded); result.Err == nil {
				result.Value = record(decoded)
			}
			if !yield(result, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(imports.Record[R]{}, err)
		}
	}
}

func decode(text []byte, to any) error {
	if !utf8.Valid(text) { // encoding/json would replace invalid bytes
		return errNotUTF8
	}
	if err := json.Unmarshal(text, to); err != nil || text[0] != '{' { // null is not a document
		return errNotJSON
	}
	return nil
}
