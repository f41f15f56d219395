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

// What programs may ask for at once of a list.
const (
	DefaultListLimit = 50
	MaxListLimit     = 100
)

// ListLimit returns how many pastes a page of a list has at most, where a program asks for that many; 0 is the default.
// It fails with a fault.Invalid.
func ListLimit(asked int) (int, error) {
	switch {
	case asked == 0:
		return DefaultListLimit, nil
	case asked < 0 || asked > MaxListLimit:
		return 0, invalid("limit", "it must be a whole number from 1 to %d.", MaxListLimit)
	}
	return asked, nil
}

// ErrCursor is the fault.Invalid for a cursor that the list did not give to the viewer.
var ErrCursor = fault.About("cursor", "it is not one that this list has given you. Begin without a cursor.")

// cursorSum is the length of the checksum of a cursor, which keeps the cursors of lists and viewers apart. It is no
// secret: whoever makes up a cursor sees nothing but a part of their own list.
const cursorSum = 6

// maxCursor is the longest cursor: it may hold a TitleKey.
const maxCursor = 2 << 10

// NewCursor returns a place in a list as text. The scope names the list with its viewer and its filters.
func NewCursor(scope, place []string) string {
	text, _ := json.Marshal(place) // texts can be encoded
	return base64.RawURLEncoding.EncodeToString(append(checksum(scope, text), text...))
}

// ParseCursor returns the place in a cursor of that scope, with as many parts. It fails with ErrCursor.
func ParseCursor(cursor string, scope []string, parts int) (place []string, err error) {
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

// Format returns a place for a cursor.
func (p Place) Format() (at, id string) {
	return strconv.FormatInt(p.CreatedAt.UnixMicro(), 10), string(p.ID)
}

// ParsePlace is the inverse of Format. It fails with ErrCursor.
func ParsePlace(at, id string) (Place, error) {
	micros, err := strconv.ParseInt(at, 10, 64)
	created := time.UnixMicro(micros).UTC()
	if err != nil || !ident.Valid(id) || created.Year() < 1 || created.Year() > 9999 { // databases have no other years
		return Place{}, ErrCursor
	}
	return Place{CreatedAt: created, ID: ID(id)}, nil
}

func checksum(scope []string, text []byte) []byte {
	named, _ := json.Marshal(scope)
	sum := sha256.Sum256(append(named, text...))
	return sum[:cursorSum:cursorSum]
}
