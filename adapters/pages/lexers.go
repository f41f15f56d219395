package pages

import (
	"archive/zip"
	_ "embed"
	"path"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"

	"github.com/gluepot/gluepot/application/languages"
)

//go:generate go run generate.go

// lexerArchive has the lexers of chroma: see generate.go.
//
//go:embed lexers.zip
var lexerArchive string

// lexers find the lexer of a language.
type lexers struct {
	known  *languages.UseCases
	byName func() map[string]chroma.Lexer // by names and aliases in lower case
}

func newLexers(known *languages.UseCases) *lexers { return &lexers{known, sync.OnceValue(readLexers)} }

// readLexers takes the archive apart. The rules of a lexer are read when it is first used.
func readLexers() map[string]chroma.Lexer {
	archive, err := zip.NewReader(strings.NewReader(lexerArchive), int64(len(lexerArchive)))
	if err != nil { // it is part of the program
		panic(err)
	}
	registry := chroma.NewLexerRegistry()
	for _, file := range archive.File {
		if path.Ext(file.Name) == ".xml" {
			registry.Register(newLexer(archive, file.Name))
		}
	}
	byName := make(map[string]chroma.Lexer, 4*len(registry.Lexers))
	for _, lexer := range registry.Lexers {
		for _, alias := range lexer.Config().Aliases {
			if alias = strings.ToLower(alias); byName[alias] == nil {
				byName[alias] = lexer
			}
		}
	}
	for _, lexer := range registry.Lexers {
		byName[strings.ToLower(lexer.Config().Name)] = lexer
	}
	return byName
}

// lexerNames are those of languages that have another name there, or share a lexer with one that is nearly the same; "" where
// what has the same name is another language.
var lexerNames = map[string]string{
	"Alpine Abuild": "Bash", "Ant Build System": "XML", "Apex": "Java", "AspectJ": "Java", "ClojureScript": "Clojure",
	"COLLADA": "XML", "Cuda": "C++", "Dotenv": "Bash", "EditorConfig": "INI", "Fortran Free Form": "Fortran", "Gentoo Ebuild": "Bash",
	"Gentoo Eclass": "Bash", "Git Config": "INI", "GitHub Flavored Markdown": "markdown", "Gradle": "Groovy",
	"Gradle Kotlin DSL": "Kotlin", "Hack": "PHP", "HIP": "C++", "ISPC": "C", "Java Properties": "properties",
	"JSON with Comments": "JSON", "JSON-LD": "JSON", "JSON5": "JavaScript", "Jupyter Notebook": "JSON", "LESS": "SCSS",
	"Macaulay2": "", "MariaDB SQL": "MySQL", "Maven POM": "XML", "MDX": "markdown", "Monkey C": "MonkeyC", "MS SQL": "Transact-SQL",
	"nesC": "C", "Nextflow": "Groovy", "NPM Config": "INI", "NumPy": "Python", "Nushell": "Nu", "OASv2-json": "JSON",
	"OASv2-yaml": "YAML", "OASv3-json": "JSON", "OASv3-yaml": "YAML", "Objective-C++": "Objective-C", "Open Policy Agent": "Rego",
	"OpenCL": "C", "OpenRC runscript": "Bash", "Plain Text": "", "PLSQL": "SQL", "PostCSS": "SCSS", "Processing": "Java",
	"RMarkdown": "markdown",
	"RPM Spec":  "RPMSpec", "Snakemake": "Python", "SQLite": "SQL", "Svelte": "HTML", "SVG": "XML", "Unified Parallel C": "C",
	"VBA": "VB.net", "VBScript": "VB.net", "Visual Basic 6.0": "VB.net", "Vyper": "Python", "Windows Registry Entries": "reg",
	"XML Property List": "XML", "Xonsh": "Python", "XProc": "XML", "XSLT": "XML",
}

// of returns the lexer of a language, which is given by its name in the catalogue, or nil.
func (l *lexers) of(language string) chroma.Lexer {
	byName := l.byName()
	if name, ok := lexerNames[language]; ok {
		return byName[strings.ToLower(name)]
	}
	if found := byName[strings.ToLower(language)]; found != nil {
		return found
	}
	found, err := l.known.FindByName.Do(language)
	if err != nil {
		return nil
	}
	for _, alias := range found.Aliases {
		if lexer := byName[strings.ToLower(alias)]; lexer != nil {
			return lexer
		}
	}
	return nil
}
