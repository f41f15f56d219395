// Package catalogue knows the programming languages: those of CodeMirror 5's mode registry.
package catalogue

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gluepot/gluepot/domain/language"
)

//go:generate node generate.mjs

//go:embed codemirror.json
var codeMirrorFile []byte

type codeMirrorLanguage struct {
	Name       string   `json:"name"`
	Mode       string   `json:"mode"`
	MIMETypes  []string `json:"mimes"`
	Extensions []string `json:"ext"`
	Aliases    []string `json:"alias"`
}

func readCodeMirror() ([]codeMirrorLanguage, error) {
	var file struct {
		Languages []codeMirrorLanguage `json:"languages"`
	}
	if err := json.Unmarshal(codeMirrorFile, &file); err != nil {
		return nil, fmt.Errorf("read codemirror.json: %w", err)
	}
	return file.Languages, nil
}

// Catalogue finds languages in memory. It does not change once built.
type Catalogue struct {
	languages        []*language.Language
	names            index
	aliases          index
	extensions       map[string]*language.Language
	foldedExtensions index
}

var (
	_ language.Names      = (*Catalogue)(nil)
	_ language.Extensions = (*Catalogue)(nil)
)

// New builds the catalogue. It fails when the data contradict each other, which a test rules out.
func New() (*Catalogue, error) {
	known, err := readCodeMirror()
	if err != nil {
		return nil, err
	}
	c := &Catalogue{
		names: make(index), aliases: make(index),
		extensions: make(map[string]*language.Language), foldedExtensions: make(index),
	}
	for _, k := range known {
		l := &language.Language{Name: k.Name, Mode: k.Mode, MIMETypes: k.MIMETypes, Extensions: k.Extensions, Aliases: k.Aliases}
		c.languages = append(c.languages, l)
		c.names[fold(l.Name)] = l
		for _, alias := range l.Aliases {
			c.aliases[fold(alias)] = l
		}
		for _, extension := range l.Extensions {
			c.extensions[extension] = l
			c.foldedExtensions[fold(extension)] = l
		}
	}
	return c, nil
}

// All returns every language, in a fixed order.
func (c *Catalogue) All() []*language.Language { return c.languages }

// ByName implements language.Names.
func (c *Catalogue) ByName(name string) (*language.Language, bool) { return c.names.find(name) }

// ByAlias implements language.Names.
func (c *Catalogue) ByAlias(alias string) (*language.Language, bool) { return c.aliases.find(alias) }

// ByExtension implements language.Extensions.
func (c *Catalogue) ByExtension(extension string) (*language.Language, bool) {
	found, ok := c.extensions[extension]
	return found, ok
}

// ByFoldedExtension implements language.Extensions.
func (c *Catalogue) ByFoldedExtension(extension string) (*language.Language, bool) {
	return c.foldedExtensions.find(extension)
}

// index maps folded keys to languages.
type index map[string]*language.Language

// maxKeyLength is longer than any name, alias or extension (a test sees to it): what is longer is not
// known, and what is not fits into a buffer on the stack.
const maxKeyLength = 64

func (i index) find(key string) (*language.Language, bool) {
	if len(key) > maxKeyLength {
		return nil, false
	}
	var folded [maxKeyLength]byte
	for n := range len(key) {
		folded[n] = lower(key[n])
	}
	found, ok := i[string(folded[:len(key)])] // the compiler looks this up without allocating
	return found, ok
}

func fold(key string) string { return strings.Map(func(r rune) rune { return foldRune(r) }, key) }

func foldRune(r rune) rune {
	if r < 0x80 {
		return rune(lower(byte(r)))
	}
	return r
}

// lower folds ASCII only: the names hold nothing else that has a case.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
