package user

import (
	"slices"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

// MaxNameLength is the longest username, in bytes (which are characters: names are ASCII).
const MaxNameLength = 64

// reservedName is the path of the signed-in user's own profile.
const reservedName = "self"

// Name is a valid username. ParseName makes it; the zero value is not valid.
type Name struct {
	spelling string
	folded   string
}

// ParseName returns s as a name.
//
// The rules: 1 to 64 of A-Z a-z 0-9 - _ . with a letter or digit first and last; "self" is reserved in
// any case. A name that breaks one is a fault.Invalid that says which.
func ParseName(s string) (Name, error) {
	switch {
	case s == "":
		return Name{}, fault.New(fault.Invalid, "The username is empty.")
	case len(s) > MaxNameLength:
		return Name{}, fault.New(fault.Invalid, "The username is longer than 64 characters.")
	}
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && s[i] != '-' && s[i] != '_' && s[i] != '.' {
			return Name{}, fault.New(fault.Invalid, "The username has a character other than A-Z, a-z, 0-9, '-', '_' and '.'.")
		}
	}
	if !isAlphanumeric(s[0]) || !isAlphanumeric(s[len(s)-1]) {
		return Name{}, fault.New(fault.Invalid, "The username does not begin and end with a letter or a digit.")
	}
	folded := strings.ToLower(s)
	if folded == reservedName {
		return Name{}, fault.New(fault.Invalid, "The username \"self\" is reserved.")
	}
	return Name{spelling: s, folded: folded}, nil
}

// String returns the name as its owner spells it.
func (n Name) String() string { return n.spelling }

// Folded returns the lower-case form that two names share when they are the same name.
func (n Name) Folded() string { return n.folded }

// officialNames look like names of the server's operators.
var officialNames = []string{"admin", "administrator", "root", "operator", "moderator", "support"}

// CheckChosen returns a fault.Invalid for a name that cannot be chosen on pages. Operators may give it, and imported users keep it.
func (n Name) CheckChosen() error {
	if slices.Contains(officialNames, n.folded) {
		return fault.New(fault.Invalid, "The username \""+n.spelling+"\" is reserved for those who run this server. Choose another.")
	}
	return nil
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
