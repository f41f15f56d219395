// Package language is about the programming languages that pastes are written in.
package language

import "strings"

// PlainText is the name of the language for text that is not code.
const PlainText = "Plain Text"

// Language describes a programming language the way an editor needs it.
type Language struct {
	Name       string
	Mode       string   // CodeMirror's mode, "null" where CodeMirror has none
	MIMETypes  []string // never empty, the preferred one first
	Extensions []string // without dots, the preferred one first
	Aliases    []string // other names
	Color      string   // #rrggbb in lower case, or empty
}

// Catalogue finds and lists languages.
type Catalogue interface {
	// ByName returns the language with that name or else that alias, ignoring case.
	ByName(name string) (*Language, bool)
	// ByInterpreter returns the language that the program with that name runs.
	ByInterpreter(name string) (*Language, bool)

	// ByExtension returns the language that owns an extension, given without a dot. It prefers an exact match, then
	// ignores case. Each extension has one owner, even if several languages use it.
	ByExtension(extension string) (*Language, bool)
	// ByFilename returns the language of files with exactly that name, such as Makefile, given without folders.
	ByFilename(name string) (*Language, bool)

	// All returns every language, in a fixed order.
	All() []*Language
}

// Find returns the language with that name, alias or extension, ignoring case. The extension may have a dot.
func Find(languages Catalogue, text string) (*Language, bool) {
	if match, ok := languages.ByName(text); ok {
		return match, true
	}
	return languages.ByExtension(strings.TrimPrefix(text, "."))
}

// Detector detects the language of a text.
type Detector interface {
	// Detect returns the language that a shebang, a modeline or the text itself reveals. It reads only a part of a long
	// text, so that its time is bounded.
	Detect(text string) (*Language, bool)
}

// maxExtension bounds extensions, in bytes. No language has a longer one, but a title with many dots has thousands.
const maxExtension = 64

// ByTitle returns the language that a title names as a file name or by its extension. Of several extensions
// (.blade.php) the longest that a language owns counts.
func ByTitle(title string, languages Catalogue) (*Language, bool) {
	base := title[strings.LastIndexAny(title, `/\`)+1:]
	if base == "" {
		return nil, false
	}
	if match, ok := languages.ByFilename(base); ok {
		return match, true
	}
	_, rest, ok := strings.Cut(base, ".")
	for ; ok; _, rest, ok = strings.Cut(rest, ".") {
		if len(rest) > maxExtension {
			continue
		}
		if match, ok := languages.ByExtension(rest); ok {
			return match, true
		}
	}
	return nil, false
}
