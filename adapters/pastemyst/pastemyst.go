// Package pastemyst reads what mongoexport writes from the database of a PasteMyst v2 installation: one
// JSON document on each line or, where array says so, one JSON array (mongoexport --jsonArray).
package pastemyst

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"math"
	"strconv"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/fault"
)

var errNotJSON = fault.New(fault.Invalid, "The record is not a JSON object of the expected form.")

// Users reads the users collection.
func Users(r io.Reader, array bool) iter.Seq2[imports.Record[imports.User], error] {
	return read(r, array, func(d userDocument) imports.User {
		for service, id := range d.ServiceIDs {
			if id == "" { // an account that was never linked
				delete(d.ServiceIDs, service)
			}
		}
		return imports.User{
			ID: d.ID, Name: d.Username, AvatarURL: d.AvatarURL, DefaultLanguage: d.DefaultLang, PublicProfile: d.PublicProfile,
			Contributor: d.Contributor, SupporterMonths: int64(d.SupporterLength), Stars: d.Stars, Services: d.ServiceIDs,
		}
	})
}

// Keys reads the api-keys collection.
func Keys(r io.Reader, array bool) iter.Seq2[imports.Record[imports.Key], error] {
	return read(r, array, func(d keyDocument) imports.Key { return imports.Key{Owner: d.ID, Text: d.Key} })
}

// Pastes reads the pastes collection.
func Pastes(r io.Reader, array bool) iter.Seq2[imports.Record[imports.Paste], error] {
	return read(r, array, func(d pasteDocument) imports.Paste {
		return imports.Paste{ID: d.ID, Owner: d.OwnerID, CreatedAt: int64(d.CreatedAt), DeletesAt: int64(d.DeletesAt)}
	})
}

type userDocument struct {
	ID              string            `json:"_id"`
	Username        string            `json:"username"`
	AvatarURL       string            `json:"avatarUrl"`
	ServiceIDs      map[string]string `json:"serviceIds"`
	PublicProfile   bool              `json:"publicProfile"`
	DefaultLang     string            `json:"defaultLang"`
	Stars           []string          `json:"stars"`
	SupporterLength number            `json:"supporterLength"`
	Contributor     bool              `json:"contributor"`
}

type keyDocument struct {
	ID  string `json:"_id"`
	Key string `json:"key"`
}

type pasteDocument struct {
	ID        string `json:"_id"`
	OwnerID   string `json:"ownerId"`
	CreatedAt number `json:"createdAt"`
	DeletesAt number `json:"deletesAt"`
}

// number is a whole number, plain or in MongoDB's extended JSON: {"$numberLong":"24"}, {"$numberInt":"24"},
// {"$numberDouble":"24.0"}.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	plain := string(text)
	if text[0] == '{' {
		var extended map[string]string
		if err := json.Unmarshal(text, &extended); err != nil || len(extended) != 1 {
			return errNotJSON
		}
		for kind, value := range extended {
			if kind != "$numberLong" && kind != "$numberInt" && kind != "$numberDouble" {
				return errNotJSON
			}
			plain = value
		}
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

// read yields one record for each document. Only what cannot be read at all is an error of its own.
func read[D, R any](r io.Reader, array bool, convert func(D) R) iter.Seq2[imports.Record[R], error] {
	return func(yield func(imports.Record[R], error) bool) {
		plain, err := open(r)
		if err != nil {
			yield(imports.Record[R]{}, err)
			return
		}
		documents := lines(plain)
		if array {
			documents = elements(plain)
		}
		for d, err := range documents {
			if err != nil {
				yield(imports.Record[R]{}, err)
				return
			}
			record := imports.Record[R]{Line: d.line, Raw: bytes.Clone(d.text)}
			var decoded D
			switch {
			case d.tooLong:
				record.Err = errTooLong
			case d.text[0] != '{' || json.Unmarshal(d.text, &decoded) != nil:
				record.Err = errNotJSON
			default:
				record.Value = convert(decoded)
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}
