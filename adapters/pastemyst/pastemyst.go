// Package pastemyst reads what mongoexport writes from the database of a PasteMyst v2 installation: one
// JSON document on each line or, where array says so, one JSON array (mongoexport --jsonArray).
package pastemyst

import (
	"io"

	"github.com/gluepot/gluepot/application/imports"
)

// Users reads the users collection.
func Users(r io.Reader, array bool) imports.Records[imports.User] {
	return read(r, array, func(u *imports.User, name, value []byte) error {
		switch string(name) {
		case "_id":
			return readText(value, &u.ID)
		case "username":
			return readText(value, &u.Name)
		case "avatarUrl":
			return readText(value, &u.AvatarURL)
		case "defaultLang":
			return readText(value, &u.DefaultLanguage)
		case "publicProfile":
			return readBool(value, &u.PublicProfile)
		case "contributor":
			return readBool(value, &u.Contributor)
		case "supporterLength":
			return readNumber(value, &u.SupporterMonths)
		case "stars":
			return readTexts(value, &u.Stars, imports.MaxStars)
		case "serviceIds": // those of accounts that were never linked are empty
			return readTextsByName(value, &u.Services, imports.MaxServices)
		}
		return nil
	})
}

// Keys reads the api-keys collection.
func Keys(r io.Reader, array bool) imports.Records[imports.Key] {
	return read(r, array, func(k *imports.Key, name, value []byte) error {
		switch string(name) {
		case "_id":
			return readText(value, &k.Owner)
		case "key":
			return readText(value, &k.Text)
		}
		return nil
	})
}

// read yields one record for each document. Only what cannot be read at all is an error of its own.
func read[R any](r io.Reader, array bool, member func(record *R, name, value []byte) error) imports.Records[R] {
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
			record := imports.Record[R]{Line: d.line, Raw: d.text}
			if d.tooLong {
				record.Err = errTooLong
			} else {
				record.Value, record.Err = decode(d.text, member)
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// decode hands the members of a document on one by one; of two with the same name, the later one counts.
func decode[R any](text []byte, member func(record *R, name, value []byte) error) (record R, err error) {
	if !valid(text) {
		return record, errNotJSON
	}
	err = eachMember(text, func(name, value []byte) error { return member(&record, name, value) })
	return record, err
}
