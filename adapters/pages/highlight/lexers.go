package highlight

import (
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"github.com/gluepot/gluepot/application/languages"
)

// lexersByName returns the lexers by names and aliases in lower case. chroma's own lookup is slow: it also tries file
// names.
var lexersByName = sync.OnceValue(func() map[string]chroma.Lexer {
	all := lexers.GlobalLexerRegistry.Lexers
	byName := make(map[string]chroma.Lexer, 4*len(all))
	for _, lexer := range all {
		for _, alias := range lexer.Config().Aliases {
			if alias = strings.ToLower(alias); byName[alias] == nil {
				byName[alias] = lexer
			}
		}
	}
	for _, lexer := range all {
		byName[strings.ToLower(lexer.Config().Name)] = lexer
	}
	return byName
})

// lexerNames maps languages to chroma's names for them or for a similar language. It maps a language to "" if chroma's
// lexer of that name is for another language.
var lexerNames = map[string]string{
	"Alpine Abuild": "Bash", "Ant Build System": "XML", "Apex": "Java", "AspectJ": "Java", "ClojureScript": "Clojure",
	"COLLADA": "XML", "Cuda": "C++", "Dotenv": "Bash", "EditorConfig": "INI", "Fortran Free Form": "Fortran",
	"Gentoo Ebuild": "Bash",
	"Gentoo Eclass": "Bash", "Git Config": "INI", "GitHub Flavored Markdown": "markdown", "Gradle": "Groovy",
	"Gradle Kotlin DSL": "Kotlin", "Hack": "PHP", "HIP": "C++", "ISPC": "C", "Java Properties": "properties",
	"JSON with Comments": "JSON", "JSON-LD": "JSON", "JSON5": "JavaScript", "Jupyter Notebook": "JSON", "LESS": "SCSS",
	"Macaulay2": "", "MariaDB SQL": "MySQL", "Maven POM": "XML", "MDX": "markdown", "Monkey C": "MonkeyC",
	"MS SQL": "Transact-SQL",
	"nesC":   "C", "Nextflow": "Groovy", "NPM Config": "INI", "NumPy": "Python", "Nushell": "Nu", "OASv2-json": "JSON",
	"OASv2-yaml": "YAML", "OASv3-json": "JSON", "OASv3-yaml": "YAML", "Objective-C++": "Objective-C",
	"Open Policy Agent": "Rego",
	"OpenCL":            "C", "OpenRC runscript": "Bash", "Plain Text": "", "PLSQL": "SQL", "PostCSS": "SCSS",
	"Processing": "Java",
	"RMarkdown":  "markdown",
	"RPM Spec":   "RPMSpec", "Snakemake": "Python", "SQLite": "SQL", "Svelte": "HTML", "SVG": "XML",
	"Unified Parallel C": "C",
	"VBA":                "VB.net", "VBScript": "VB.net", "Visual Basic 6.0": "VB.net", "Vyper": "Python",
	"Windows Registry Entries": "reg",
	"XML Property List":        "XML", "Xonsh": "Python", "XProc": "XML", "XSLT": "XML",
}

// lexerOf returns the lexer of a language, or nil.
func lexerOf(language string, catalogue *languages.UseCases) chroma.Lexer {
	byName := lexersByName()
	if name, ok := lexerNames[language]; ok {
		return byName[strings.ToLower(name)]
	}
	if lexer := byName[strings.ToLower(language)]; lexer != nil {
		return lexer
	}
	entry, err := catalogue.FindByName.Do(language)
	if err != nil {
		return nil
	}
	for _, alias := range entry.Aliases {
		if lexer := byName[strings.ToLower(alias)]; lexer != nil {
			return lexer
		}
	}
	return nil
}
