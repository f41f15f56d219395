// Package language is about the programming languages that pastes are written in.
package language

// Language describes a programming language the way an editor needs it.
type Language struct {
	Name       string
	Mode       string   // CodeMirror's mode, "null" where CodeMirror has none
	MIMETypes  []string // never empty, the preferred one first
	Extensions []string // without dots, the preferred one first
	Aliases    []string // other names it is found by
	Color      string   // #rrggbb in lower case, or empty when unknown
}

// Names finds languages by what people call them. Comparison ignores case.
type Names interface {
	// ByName returns the language with that name, or false.
	ByName(name string) (*Language, bool)
	// ByAlias returns the language that has that alias, or false.
	ByAlias(alias string) (*Language, bool)
}

// Extensions finds languages by file extension, given without a dot. An extension that several
// languages claim belongs to one of them only.
type Extensions interface {
	// ByExtension returns the language that owns the extension in exactly that case, or false.
	ByExtension(extension string) (*Language, bool)
	// ByFoldedExtension returns the language that owns the extension in any case, or false.
	ByFoldedExtension(extension string) (*Language, bool)
}

// Lister lists languages.
type Lister interface {
	// All returns every language, in a fixed order.
	All() []*Language
}
