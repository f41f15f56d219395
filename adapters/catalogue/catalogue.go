// Package catalogue knows the programming languages: those of CodeMirror 5's mode registry, which v2 had, and all
// others of Linguist.
package catalogue

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/gluepot/gluepot/domain/language"
)

// languages.json has one language on each line. A test merges it from the two sources; merge_test.go has the rules.
//
//go:generate node generate.mjs
//go:generate go test -run TestLanguagesFile -update .
//go:embed languages.json
var languagesFile []byte

// entry is a language in languages.json. An extension, a file name or an interpreter is in one entry only.
type entry struct {
	language.Language

	Owns         []string // the extensions of this language, in exactly that case
	Filenames    []string // of files that need no extension
	Interpreters []string // programs that a shebang names
}

// Catalogue finds languages. It implements language.Catalogue.
type Catalogue struct{ tables func() *tables }

// New returns the catalogue. It reads its file at its first use, because most commands never use it.
func New() *Catalogue { return &Catalogue{sync.OnceValue(read)} }

type table map[string]*language.Language

// tables index the languages. The keys of names are in lower case. extensions has each key as it is written, and in
// lower case.
type tables struct {
	names, extensions, filenames, interpreters table

	languages []*language.Language
}

var _ language.Catalogue = (*Catalogue)(nil)

func read() *tables {
	var entries []entry
	if err := json.Unmarshal(languagesFile, &entries); err != nil {
		panic(err) // the file is part of the program, and tests read it
	}
	t := &tables{names: table{}, extensions: table{}, filenames: table{}, interpreters: table{}}
	for i := range entries {
		e := &entries[i]
		t.languages = append(t.languages, &e.Language)
		for _, alias := range e.Aliases {
			t.names[strings.ToLower(alias)] = &e.Language
		}
		for _, extension := range e.Owns {
			t.extensions[extension] = &e.Language
		}
		for _, name := range e.Filenames {
			t.filenames[name] = &e.Language
		}
		for _, program := range e.Interpreters {
			t.interpreters[program] = &e.Language
		}
	}
	for i := range entries { // names win over aliases, and the exact case of an extension over any other
		e := &entries[i]
		t.names[strings.ToLower(e.Name)] = &e.Language
		for _, extension := range e.Owns {
			if folded := strings.ToLower(extension); t.extensions[folded] == nil {
				t.extensions[folded] = &e.Language
			}
		}
	}
	return t
}

// All implements language.Catalogue: CodeMirror's come first.
func (c *Catalogue) All() []*language.Language { return c.tables().languages }

// ByName implements language.Catalogue.
func (c *Catalogue) ByName(name string) (*language.Language, bool) {
	return c.tables().names.find(strings.ToLower(name))
}

// ByExtension implements language.Catalogue.
func (c *Catalogue) ByExtension(extension string) (*language.Language, bool) {
	if l, ok := c.tables().extensions.find(extension); ok {
		return l, true
	}
	return c.tables().extensions.find(strings.ToLower(extension))
}

// ByFilename implements language.Catalogue.
func (c *Catalogue) ByFilename(name string) (*language.Language, bool) {
	return c.tables().filenames.find(name)
}

// ByInterpreter implements language.Catalogue.
func (c *Catalogue) ByInterpreter(name string) (*language.Language, bool) {
	return c.tables().interpreters.find(name)
}

func (t table) find(key string) (*language.Language, bool) {
	l, ok := t[key]
	return l, ok
}
