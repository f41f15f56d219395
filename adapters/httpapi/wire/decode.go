// Package wire decodes what clients of the PasteMyst v2 API send: JSON documents, forms and queries.
package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// MaxParts is the most elements that an array may have: an element of a few bytes takes many times its length in
// memory.
const MaxParts = 1 << 16

// Invalid returns a fault.Invalid with a public message.
func Invalid(format string, values ...any) error {
	return fault.New(fault.Invalid, fmt.Sprintf(format, values...))
}

var (
	errNotJSON      = Invalid("The body must be a single JSON object in UTF-8.")
	errNotEncrypted = Invalid(
		"An encrypted paste may have only the fields version, cipher, salt, expiresIn, isPrivate and burn.")
)

// DecodeDraft decodes a paste to create. It ignores the ids of pasties. It fails with fault.Invalid.
func DecodeDraft(body []byte) (paste.Draft, error) {
	var request struct {
		Title     string           `json:"title"`
		Private   bool             `json:"isPrivate"`
		Public    bool             `json:"isPublic"`
		Tags      texts            `json:"tags"`
		Lifetime  *string          `json:"expiresIn"`
		Burns     bool             `json:"burn"`
		Encrypted bool             `json:"encrypted"`
		Encrypt   bool             `json:"encrypt"`
		Pasties   list[pastyDraft] `json:"pasties"`
	}
	if err := decode(body, &request); err != nil {
		return paste.Draft{}, err
	}
	draft := paste.Draft{
		Title: request.Title, Private: request.Private, Public: request.Public, Tags: request.Tags,
		Lifetime: request.Lifetime, Burns: request.Burns, Encrypted: request.Encrypted || request.Encrypt, UnixLines: true,
		Pasties: make([]paste.PastyDraft, len(request.Pasties)),
	}
	for i, p := range request.Pasties {
		draft.Pasties[i] = paste.PastyDraft{Title: p.Title, Language: p.Language, Code: p.Code}
	}
	return draft, nil
}

type pastyDraft struct {
	Title    string  `json:"title"`
	Language *string `json:"language"`
	Code     *string `json:"code"`
}

// DecodeChanges decodes changes to a paste. Clients may send the whole paste. It fails with fault.Invalid.
func DecodeChanges(body []byte) (paste.Changes, error) {
	var request struct {
		Title   *string            `json:"title"`
		Private *bool              `json:"isPrivate"`
		Public  *bool              `json:"isPublic"`
		Tags    texts              `json:"tags"`
		Pasties list[pastyChanges] `json:"pasties"`
	}
	if err := decode(body, &request); err != nil {
		return paste.Changes{}, err
	}
	changes := paste.Changes{
		Title: request.Title, Private: request.Private, Public: request.Public, Tags: request.Tags, UnixLines: true,
		Pasties: make([]paste.PastyChanges, len(request.Pasties)),
	}
	for i, p := range request.Pasties {
		changes.Pasties[i] = paste.PastyChanges{ID: p.ID, Title: p.Title, Language: p.Language, Code: p.Code}
	}
	return changes, nil
}

type pastyChanges struct {
	ID       string  `json:"_id"`
	Title    *string `json:"title"`
	Language *string `json:"language"`
	Code     *string `json:"code"`
}

// DecodeEncrypted decodes an encrypted paste to create. It refuses unknown fields, because a client may think that they
// are encrypted. It fails with fault.Invalid.
func DecodeEncrypted(body []byte) (paste.Draft, error) {
	var request struct {
		Version  int16   `json:"version"`
		Cipher   string  `json:"cipher"`
		Salt     string  `json:"salt"`
		Lifetime *string `json:"expiresIn"`
		Private  bool    `json:"isPrivate"`
		Burns    bool    `json:"burn"`
	}
	if err := decode(body, &request, json.RejectUnknownMembers(true)); err != nil {
		return paste.Draft{}, err
	}
	draft := paste.Draft{
		Lifetime: request.Lifetime, Private: request.Private, Burns: request.Burns,
		Cipher: &paste.Cipher{Version: int(request.Version)},
	}
	var err error
	if draft.Cipher.Data, err = base64.RawURLEncoding.Strict().DecodeString(request.Cipher); err != nil {
		return draft, Invalid("cipher: it must be base64url without padding.")
	}
	if draft.Cipher.Salt, err = base64.RawURLEncoding.Strict().DecodeString(request.Salt); err != nil {
		return draft, Invalid("salt: it must be base64url without padding.")
	}
	return draft, nil
}

// ByteOrderMark may precede a document.
const ByteOrderMark = "\ufeff"

// decode reads a body that is one object. If a name occurs twice, the last value counts. An escaped lone surrogate
// becomes U+FFFD.
func decode(body []byte, to any, options ...json.Options) error {
	text := jsontext.Value(bytes.TrimPrefix(body, []byte(ByteOrderMark)))
	if !utf8.Valid(text) || text.Kind() != jsontext.KindBeginObject { // AllowInvalidUTF8 below is for escapes
		return errNotJSON
	}
	syntax := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := json.Unmarshal(text, to, append(options, syntax)...)
	if err == nil {
		return nil
	}
	if !text.IsValid(syntax) {
		return errNotJSON
	}
	if own, ok := errors.AsType[*fault.Error](err); ok {
		return own
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return errNotJSON
	}
	if errors.Is(err, json.ErrUnknownName) {
		return errNotEncrypted
	}
	return Invalid("%s: it must be %s.", name(wrong.JSONPointer), kinds[wrong.GoType.Kind()])
}

var kinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Int16: "a whole number up to 32767",
}

var index = regexp.MustCompile(`/(\d+)`)

// name returns the name of a field for error messages: pasties[0].code for /pasties/0/code.
func name(pointer jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(index.ReplaceAllString(string(pointer), "[$1]"), "/"), "/", ".")
}

// texts decodes a string or an array of strings. null becomes nil.
type texts []string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *texts) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	*t = nil
	wrong := Invalid("%s: it must be a string or an array of strings.", name(from.StackPointer()))
	text := func(int) error {
		if from.PeekKind() != jsontext.KindString {
			return wrong
		}
		var text string
		err := json.UnmarshalDecode(from, &text)
		*t = append(*t, text)
		return err
	}
	switch from.PeekKind() {
	case jsontext.KindNull:
		return from.SkipValue()
	case jsontext.KindBeginArray:
		*t = texts{}
		return elements(from, text)
	default:
		return text(0)
	}
}

// list decodes an array of objects. null becomes nil.
type list[T any] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *list[T]) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	*l = nil
	field := name(from.StackPointer())
	switch from.PeekKind() {
	case jsontext.KindNull:
		return from.SkipValue()
	case jsontext.KindBeginArray:
		return elements(from, func(i int) error {
			if from.PeekKind() != jsontext.KindBeginObject {
				return Invalid("%s[%d]: it must be an object.", field, i)
			}
			var element T
			err := json.UnmarshalDecode(from, &element)
			*l = append(*l, element)
			return err
		})
	default:
		return Invalid("%s: it must be an array.", field)
	}
}

// elements decodes an array, and calls read for each element.
func elements(from *jsontext.Decoder, read func(i int) error) error {
	field := name(from.StackPointer())
	_, err := from.ReadToken()
	for i := 0; err == nil && from.PeekKind() != jsontext.KindEndArray; i++ {
		if i == MaxParts {
			return Invalid("%s: there may be at most %d.", field, MaxParts)
		}
		err = read(i)
	}
	if err != nil {
		return err
	}
	_, err = from.ReadToken()
	return err
}
