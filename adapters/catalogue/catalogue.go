// Package catalogue knows the programming languages: those of CodeMirror 5's mode registry, which v2 had, and all others of Linguist.
//
// Where both know a language, CodeMirror's name wins, because clients send and compare it. CodeMirror also decides which language has an
// extension; where it names several, a reviewed table decides.
package catalogue

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gluepot/gluepot/domain/language"
)

const (
	noMode    = "null" // CodeMirror's own word for having no mode
	plainText = "text/plain"
)

// Catalogue finds languages. It implements the ports of domain/language, and allocates only when it is first asked: building it takes
// several times as long as most commands, which ask it nothing.
type Catalogue struct{ tables func() *tables }

// New returns the catalogue, which panics when it is first asked if its data contradict each other; a test rules that out.
func New() *Catalogue {
	return &Catalogue{sync.OnceValue(func() *tables {
		built, err := build()
		if err != nil {
			panic(err)
		}
		return built
	})}
}

// tables are all that there is to know.
type tables struct {
	languages        []*language.Language
	names            index
	aliases          index
	extensions       map[string]*language.Language
	foldedExtensions index
	filenames        map[string]*language.Language
	interpreters     map[string]*language.Language
}

var (
	_ language.Names        = (*Catalogue)(nil)
	_ language.Files        = (*Catalogue)(nil)
	_ language.Interpreters = (*Catalogue)(nil)
	_ language.Lister       = (*Catalogue)(nil)
)

// build fails when the data contradict each other.
func build() (*tables, error) {
	known, err := readCodeMirror()
	if err != nil {
		return nil, err
	}
	c := &tables{
		names: make(index), aliases: make(index),
		filenames: make(map[string]*language.Language), interpreters: make(map[string]*language.Language),
	}
	claims := make(map[string][]claim) // by extension as it is written
	for _, k := range known {
		l := &language.Language{Name: k.Name, Mode: k.Mode}
		if !c.names.add(l.Name, l) {
			return nil, fmt.Errorf("two languages are named %q", l.Name)
		}
		c.languages = append(c.languages, l)
		c.extend(l, claims, true, k.MIMETypes, k.Extensions, append(k.Aliases, clientAliases[k.Name]...))
	}
	linguist, err := readLinguist()
	if err != nil {
		return nil, err
	}
	for _, info := range linguist {
		name := info.Name
		if ours, ok := sameLanguage[name]; ok {
			name = ours
		}
		l, exists := c.names.find(name)
		if !exists {
			l = &language.Language{Name: name, Mode: info.Mode}
			if l.Mode == "" {
				l.Mode = noMode
			}
			c.names.add(l.Name, l)
			c.languages = append(c.languages, l)
		}
		l.Color = info.Color
		var mimeTypes []string
		if info.MIMEType != "" {
			mimeTypes = []string{info.MIMEType}
		}
		c.extend(l, claims, false, mimeTypes, info.Extensions, append([]string{info.Name}, info.Aliases...))
		assign(c.filenames, filenameOwners, l, info.Filenames)
		assign(c.interpreters, interpreterOwners, l, info.Interpreters)
	}
	for _, l := range c.languages {
		if len(l.MIMETypes) == 0 {
			l.MIMETypes = []string{plainText}
		}
	}
	return c, c.assignExtensions(claims)
}

// extend adds what a source knows of a language to what is known already, without repeating it. A name
// or alias that is taken stays with the language that had it first: CodeMirror's come before Linguist's.
func (c *tables) extend(l *language.Language, claims map[string][]claim, codeMirror bool, mimeTypes, extensions, aliases []string) {
	l.MIMETypes = union(l.MIMETypes, mimeTypes)
	l.Extensions = union(l.Extensions, extensions)
	for rank, extension := range extensions {
		claims[extension] = append(claims[extension], claim{language: l, codeMirror: codeMirror, rank: rank})
	}
	for _, alias := range aliases {
		if fold(alias) != fold(l.Name) && c.aliases.add(alias, l) {
			l.Aliases = append(l.Aliases, alias)
		}
	}
}

// assignExtensions gives each extension to one language, once as it is written and once for any case.
func (c *tables) assignExtensions(claims map[string][]claim) error {
	c.extensions, c.foldedExtensions = make(map[string]*language.Language, len(claims)), make(index, len(claims))
	folded := make(map[string][]claim, len(claims))
	for _, extension := range slices.Sorted(maps.Keys(claims)) {
		key := fold(extension)
		folded[key] = append(folded[key], claims[extension]...)
		if len(claims[extension]) == 1 { // an extension in a case of its own, such as R beside r
			c.extensions[extension] = claims[extension][0].language
			continue
		}
		owned, err := owner(key, claims[extension])
		if err != nil {
			return err
		}
		c.extensions[extension] = owned
	}
	for key, claims := range folded {
		if owned, ok := c.extensions[key]; ok { // the lower case is how people write it
			c.foldedExtensions[key] = owned
			continue
		}
		owned, err := owner(key, claims)
		if err != nil {
			return err
		}
		c.foldedExtensions[key] = owned
	}
	return nil
}

// assign gives keys to a language, unless a table gives them to another.
func assign(taken map[string]*language.Language, owners map[string]string, l *language.Language, keys []string) {
	for _, key := range keys {
		if wanted, ok := owners[key]; !ok || wanted == l.Name {
			taken[key] = l
		}
	}
}

// All implements language.Lister: CodeMirror's come first.
func (c *Catalogue) All() []*language.Language { return c.tables().languages }

// ByName implements language.Names.
func (c *Catalogue) ByName(name string) (*language.Language, bool) {
	return c.tables().names.find(name)
}

// ByAlias implements language.Names.
func (c *Catalogue) ByAlias(alias string) (*language.Language, bool) {
	return c.tables().aliases.find(alias)
}

// ByExtension implements language.Files.
func (c *Catalogue) ByExtension(extension string) (*language.Language, bool) {
	if found, ok := c.tables().extensions[extension]; ok {
		return found, true
	}
	return c.tables().foldedExtensions.find(extension)
}

// ByFilename implements language.Files.
func (c *Catalogue) ByFilename(name string) (*language.Language, bool) {
	found, ok := c.tables().filenames[name]
	return found, ok
}

// ByInterpreter implements language.Interpreters.
func (c *Catalogue) ByInterpreter(name string) (*language.Language, bool) {
	found, ok := c.tables().interpreters[name]
	return found, ok
}

// union appends to list what it lacks of more.
func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
