// Package languages has the use cases about programming languages.
package languages

import "github.com/gluepot/gluepot/domain/language"

// UseCases is what can be asked about programming languages.
type UseCases struct {
	FindByName      *FindByName
	FindByExtension *FindByExtension
	List            *List
}

// Catalogue is what the use cases need to know of languages.
type Catalogue interface {
	language.Names
	language.Extensions
	language.Lister
}

// New returns the use cases over their ports.
func New(catalogue Catalogue) *UseCases {
	return &UseCases{
		FindByName:      &FindByName{names: catalogue},
		FindByExtension: &FindByExtension{extensions: catalogue},
		List:            &List{languages: catalogue},
	}
}
