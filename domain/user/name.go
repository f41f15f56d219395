package user

import (
	"slices"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// MaxNameLength is the maximum length of a username, in bytes. Names are ASCII.
const MaxNameLength = 64

// punctuation may stand between letters and digits.
const punctuation = "-_."

// reservedName is the path of the signed-in user's own profile.
const reservedName = "self"

// Name is a valid username. Only the zero value, which ParseName never returns, is not valid.
type Name struct {
	spelling string
	folded   string
}

// ParseName parses a name: 1 to 64 of A-Z a-z 0-9 - _ . with a letter or a digit first and last. "self" is reserved,
// ignoring case. It fails with a fault.Invalid that says which rule is broken.
func ParseName(s string) (Name, error) {
	switch {
	case s == "":
		return Name{}, fault.New(fault.Invalid, "The username must not be empty.")
	case len(s) > MaxNameLength:
		return Name{}, fault.New(fault.Invalid, "The username must have at most 64 characters.")
	case strings.ContainsFunc(s, func(c rune) bool {
		return !ident.Alphanumeric(c) && !strings.ContainsRune(punctuation, c)
	}):
		return Name{}, fault.New(fault.Invalid, "The username may contain only A-Z, a-z, 0-9, '-', '_' and '.'.")
	case strings.Trim(s, punctuation) != s:
		return Name{}, fault.New(fault.Invalid, "The username must begin and end with a letter or a digit.")
	}
	folded := strings.ToLower(s)
	if folded == reservedName {
		return Name{}, fault.New(fault.Invalid, "The username \"self\" is reserved.")
	}
	return Name{spelling: s, folded: folded}, nil
}

// String returns the name as its owner spells it.
func (n Name) String() string { return n.spelling }

// Folded returns the lower-case form. Names with the same form are the same name.
func (n Name) Folded() string { return n.folded }

// officialNames look like names of the server's operators.
var officialNames = []string{"admin", "administrator", "root", "operator", "moderator", "support"}

// CheckChosen returns a fault.Invalid for a name that users may not choose. Operators may give such a name, and
// imported users keep it.
func (n Name) CheckChosen() error {
	if slices.Contains(officialNames, n.folded) {
		return fault.New(fault.Invalid,
			"The username \""+n.spelling+"\" is reserved for the operator of this server. Choose another.")
	}
	return nil
}
