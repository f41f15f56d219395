package token

import "github.com/gluepot/gluepot/domain/fault"

// Scope is what a token may do.
type Scope uint8

// The scopes, as they are stored.
const (
	Write Scope = iota // everything that its owner may
	Read               // what only reads
)

// ParseScope returns the scope with that name, read or write. It fails with fault.Invalid.
func ParseScope(name string) (Scope, error) {
	switch name {
	case "write":
		return Write, nil
	case "read":
		return Read, nil
	}
	return Write, fault.New(fault.Invalid, "The scope is neither read nor write.")
}

// String returns the scope's name.
func (s Scope) String() string {
	if s == Read {
		return "read"
	}
	return "write"
}
