package wire

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"

	"github.com/gluepot/gluepot/domain/paste"
)

var errNotEncrypted = Invalid("An encrypted paste has only the fields version, cipher, salt, expiresIn, isPrivate and burn.")

// DecodeEncrypted reads an encrypted paste to create. It fails with a fault.Invalid.
func DecodeEncrypted(body []byte) (draft paste.Draft, err error) {
	draft.Cipher = new(paste.Cipher)
	var private, burn *bool
	err = decode(body, func(d decoder, name string) (err error) {
		switch name {
		case "version":
			draft.Cipher.Version, err = d.number(name)
		case "cipher":
			draft.Cipher.Data, err = d.bytes(name)
		case "salt":
			draft.Cipher.Salt, err = d.bytes(name)
		case "expiresIn":
			draft.Lifetime, err = d.text(name)
		case "isPrivate":
			private, err = d.boolean(name)
		case "burn":
			burn, err = d.boolean(name)
		default:
			return errNotEncrypted // the field may be meant to be secret
		}
		return err
	})
	draft.Private, draft.Burns = Value(private), Value(burn)
	return draft, err
}

// number reads a small number; null is 0.
func (d decoder) number(name string) (int, error) {
	text, err := scalar[json.Number](d, name, "a number")
	if err != nil || text == nil {
		return 0, err
	}
	number, err := strconv.ParseInt(text.String(), 10, 16)
	if err != nil {
		return 0, Invalid("%s: it must be a whole number up to %d.", name, math.MaxInt16)
	}
	return int(number), nil
}

// bytes reads base64url without padding.
func (d decoder) bytes(name string) ([]byte, error) {
	text, err := d.text(name)
	if err != nil || text == nil {
		return nil, err
	}
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(*text)
	if err != nil {
		return nil, Invalid("%s: it must be base64url without padding.", name)
	}
	return decoded, nil
}
