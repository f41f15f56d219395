package language

import "strings"

// PlainText is the name of the language of texts in no language.
const PlainText = "Plain Text"

// Filenames finds languages by the names of files that need no extension, such as Makefile.
type Filenames interface {
	// ByFilename returns the language of files with exactly that name, given without folders, or false.
	ByFilename(name string) (*Language, bool)
}

// Interpreters finds languages by the programs that run them.
type Interpreters interface {
	// ByInterpreter returns the language that the program of that name runs, or false.
	ByInterpreter(name string) (*Language, bool)
}

// Detector tells in which language a text is written.
type Detector interface {
	// Detect returns the language that the text shows by a shebang, a modeline or what it is made of, or false. Of a
	// long text it looks at a part, so that its time has a bound.
	Detect(text string) (*Language, bool)
}

// maxExtension is more than the longest extension has, in bytes. A title of nothing but dots has thousands of longer ones.
const maxExtension = 64

// ByTitle returns the language that a title names as a file name or by its extension, or false. Of
// several extensions (.blade.php) the longest that is known counts.
func ByTitle(title string, filenames Filenames, extensions Extensions) (*Language, bool) {
	base := title[strings.LastIndexAny(title, `/\`)+1:]
	if base == "" {
		return nil, false
	}
	if found, ok := filenames.ByFilename(base); ok {
		return found, true
	}
	_, rest, ok := strings.Cut(base, ".")
	for ; ok; _, rest, ok = strings.Cut(rest, ".") {
		if len(rest) > maxExtension {
			continue
		}
		if found, ok := extensions.ByExtension(rest); ok {
			return found, true
		}
		if found, ok := extensions.ByFoldedExtension(rest); ok {
			return found, true
		}
	}
	return nil, false
}
