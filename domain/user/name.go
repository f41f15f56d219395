package user

import (
	"slices"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// MaxNameLength is the longest username, in bytes (which are characters: names are ASCII).
const MaxNameLength = 64

// punctuation may stand between letters and digits.
const punctuation = "-_."

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
	case strings.ContainsFunc(s, func(c rune) bool {
		return !ident.Alphanumeric(c) && !strings.ContainsRune(punctuation, c)
	}):
		return Name{}, fault.New(fault.Invalid, "The username has a character other than A-Z, a-z, 0-9, '-', '_' and '.'.")
	case strings.Trim(s, punctuation) != s:
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

// officialNames are names that look like those of the server's operators.
var officialNames = []string{"admin", "administrator", "root", "operator", "moderator", "support"}

// CheckChosen returns a fault.Invalid for a name that cannot be chosen on pages. Operators may give such a name, and
// imported users keep it.
func (n Name) CheckChosen() error {
	if slices.Contains(officialNames, n.folded) {
		return fault.New(fault.Invalid, "The username \""+n.spelling+
			"\" is reserved for those who run this server. Choose another.")
	}
	return nil
}
