package paste

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// Limits of a page of a list, for programs.
const (
	DefaultListLimit = 50
	MaxListLimit     = 100
)

// ListLimit returns the size of a page of a list. 0 asks for the default. It fails with a fault.Invalid.
func ListLimit(limit int) (int, error) {
	switch {
	case limit == 0:
		return DefaultListLimit, nil
	case limit < 0 || limit > MaxListLimit:
		return 0, invalid("limit", "it must be a whole number from 1 to %d.", MaxListLimit)
	}
	return limit, nil
}

// ErrCursor is the fault.Invalid for a cursor that is malformed, or belongs to another list or viewer.
var ErrCursor = fault.InvalidField("cursor", "it is not from this list. Start again without a cursor.")

// cursorSum is the length of a cursor's checksum, which tells the cursors of different lists and viewers apart. It is
// not a secret: a forged cursor only shows a part of the viewer's own list.
const cursorSum = 6

// maxCursor is the longest cursor: it may hold a TitleKey.
const maxCursor = 2 << 10

// EncodeCursor encodes a place in a list as text. The scope names the list with its viewer and its filters.
func EncodeCursor(scope, place []string) string {
	text, _ := json.Marshal(place) // texts can be encoded
	return base64.RawURLEncoding.EncodeToString(append(checksum(scope, text), text...))
}

// DecodeCursor decodes a cursor of that scope, which has that many parts. It fails with ErrCursor.
func DecodeCursor(cursor string, scope []string, parts int) (place []string, err error) {
	if len(cursor) > maxCursor {
		return nil, ErrCursor
	}
	all, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(all) < cursorSum {
		return nil, ErrCursor
	}
	text := all[cursorSum:]
	if string(all[:cursorSum]) != string(checksum(scope, text)) || json.Unmarshal(text, &place) != nil ||
		len(place) != parts {
		return nil, ErrCursor
	}
	return place, nil
}

// Format returns the texts to encode.
func (p Cursor) Format() (at, id string) {
	return strconv.FormatInt(p.CreatedAt.UnixMicro(), 10), string(p.ID)
}

// ParseCursor is the inverse of Format. It fails with ErrCursor.
func ParseCursor(at, id string) (Cursor, error) {
	micros, err := strconv.ParseInt(at, 10, 64)
	created := time.UnixMicro(micros).UTC()
	if err != nil || !ident.Valid(id) || created.Year() < 1 || created.Year() > 9999 { // databases have no other years
		return Cursor{}, ErrCursor
	}
	return Cursor{CreatedAt: created, ID: ID(id)}, nil
}

func checksum(scope []string, text []byte) []byte {
	encoded, _ := json.Marshal(scope)
	sum := sha256.Sum256(append(encoded, text...))
	return sum[:cursorSum:cursorSum]
}
