package pastemyst

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/paste"
)

// Pastes reads the pastes collection.
func Pastes(r io.Reader, array bool) imports.Records[imports.Paste] {
	return read(r, array, readPaste)
}

func readPaste(p *imports.Paste, name, value []byte) error {
	switch string(name) {
	case "_id":
		return readText(value, &p.ID)
	case "ownerId":
		return readText(value, &p.Owner)
	case "createdAt":
		return readNumber(value, &p.CreatedAt)
	case "deletesAt":
		return readNumber(value, &p.DeletesAt)
	case "expiresIn":
		return readText(value, &p.ExpiresIn)
	case "isPrivate":
		return readBool(value, &p.Private)
	case "isPublic":
		return readBool(value, &p.Public)
	case "tags":
		return readList(value, &p.Tags, imports.MaxParts, readLongText)
	case "title":
		return readLongText(value, &p.Title)
	case "pasties":
		return readList(value, &p.Pasties, imports.MaxParts, readPasty)
	case "edits":
		return readEdits(value, &p.Edits)
	case "encrypted":
		return readBool(value, &p.Encrypted)
	case "encryptedData":
		return readBytes(value, &p.EncryptedData)
	case "encryptedKey":
		return readBytes(value, &p.EncryptedKey)
	case "salt":
		return readBytes(value, &p.Salt)
	}
	return nil
}

func readPasty(value []byte, p *paste.Pasty) error {
	return eachMember(value, func(name, value []byte) error {
		switch string(name) {
		case "_id":
			return readLongText(value, &p.ID)
		case "title":
			return readLongText(value, &p.Title)
		case "language":
			return readLongText(value, &p.Language)
		case "code":
			return readLongText(value, &p.Code)
		}
		return nil
	})
}

// readEdits reads edits until they and their metadata are more than imports.MaxParts.
func readEdits(value []byte, edits *[]imports.Edit) error {
	left := imports.MaxParts
	return readList(value, edits, imports.MaxParts, func(value []byte, e *imports.Edit) error {
		if left < 0 {
			return nil // enough to be refused
		}
		err := eachMember(value, func(name, value []byte) error {
			switch string(name) {
			case "_id":
				return readLongText(value, &e.ID)
			case "editId":
				return readNumber(value, &e.Number)
			case "editType":
				return readNumber(value, &e.Type)
			case "metadata":
				return readList(value, &e.Metadata, left, readLongText)
			case "edit":
				return readLongText(value, &e.Text)
			case "editedAt":
				return readNumber(value, &e.At)
			}
			return nil
		})
		left -= len(e.Metadata)
		if e.Type == int64(paste.EditPastyCode) {
			e.Text = withoutNames(e.Text)
		}
		return err
	})
}

// withoutNames returns a diff as diff -u prints it without the names and times of the files, of which PasteMyst's were temporary.
func withoutNames(diff string) string {
	before, rest, _ := strings.Cut(diff, "\n")
	after, hunks, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(before, "--- ") || !strings.HasPrefix(after, "+++ ") {
		return diff
	}
	return paste.DiffHeader + hunks
}

// readBytes reads what may be a string, of which it returns the bytes as they are, or bytes in MongoDB's extended JSON:
// {"$binary":{"base64":"AA==","subType":"00"}} or, from older programs, {"$binary":"AA==","$type":"00"}.
func readBytes(value []byte, b *[]byte) error {
	switch value[0] {
	case 'n':
		return nil
	case '"':
		*b = []byte(unquote(value))
		return nil
	}
	found := false
	err := eachMember(value, func(name, value []byte) error {
		if string(name) != "$binary" {
			return nil
		}
		found = true
		if value[0] == '"' {
			return readBase64(value, b)
		}
		return eachMember(value, func(name, value []byte) error {
			if string(name) != "base64" {
				return nil
			}
			return readBase64(value, b)
		})
	})
	if err == nil && !found {
		return errNotJSON
	}
	return err
}

func readBase64(value []byte, b *[]byte) (err error) {
	if value[0] != '"' {
		return errNotJSON
	}
	digits := value[1 : len(value)-1]
	if bytes.IndexByte(digits, '\\') >= 0 {
		digits = []byte(unquote(value))
	}
	if *b, err = base64.StdEncoding.AppendDecode(nil, digits); err != nil {
		return errNotJSON
	}
	return nil
}
