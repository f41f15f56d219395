package languages

import "github.com/gluepot/gluepot/domain/language"

// List lists all languages.
type List struct{ languages language.Lister }

// Do returns every language in a fixed order.
func (l *List) Do() []*language.Language { return l.languages.All() }
