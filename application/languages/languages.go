// Package languages has the use cases about programming languages.
package languages

import (
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/language"
)

// UseCases is what can be asked about programming languages.
type UseCases struct {
	FindByName      *FindByName
	FindByExtension *FindByExtension
	List            *List
}

// New returns the use cases over their ports.
func New(catalogue language.Catalogue) *UseCases {
	return &UseCases{
		FindByName:      &FindByName{names: catalogue},
		FindByExtension: &FindByExtension{files: catalogue},
		List:            &List{languages: catalogue},
	}
}

var (
	errNoName      = fault.New(fault.Invalid, "Say which language: the name is missing or empty.")
	errNoExtension = fault.New(fault.Invalid, "Say which extension: it is missing or empty.")
	errNoLanguage  = fault.New(fault.NotFound, "There is no such language.")
)

// FindByName finds a language by its name or an alias.
type FindByName struct{ names language.Catalogue }

// Do returns the language that the first matching reading names. A caller passes several readings of a name that can be
// decoded in several ways.
//
// It fails with fault.Invalid when the first reading is missing or empty, and with fault.NotFound when none names a
// language.
func (f *FindByName) Do(readings ...string) (*language.Language, error) {
	if len(readings) == 0 || readings[0] == "" {
		return nil, errNoName
	}
	for _, name := range readings {
		if match, ok := f.names.ByName(name); ok {
			return match, nil
		}
	}
	return nil, errNoLanguage
}

// FindByExtension finds the language that files with an extension are most likely written in.
type FindByExtension struct{ files language.Catalogue }

// Do returns the language that owns the extension, given with or without one leading dot. The exact
// case wins over any other (C++ owns .C, and C .c). Several readings are tried in their order.
//
// It fails with fault.Invalid when the first reading is missing or empty, and with fault.NotFound when no language owns
// one.
func (f *FindByExtension) Do(readings ...string) (*language.Language, error) {
	if len(readings) == 0 || readings[0] == "" {
		return nil, errNoExtension
	}
	for _, reading := range readings {
		if match, ok := f.files.ByExtension(strings.TrimPrefix(reading, ".")); ok {
			return match, nil
		}
	}
	return nil, errNoLanguage
}

// List lists all languages.
type List struct{ languages language.Catalogue }

// Do returns every language in a fixed order.
func (l *List) Do() []*language.Language { return l.languages.All() }
