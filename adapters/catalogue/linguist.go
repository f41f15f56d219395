package catalogue

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// linguist.json holds what Gluepot uses of the go-enry module's data, which says more than ten times as
// much and would keep it in memory. A test compares them.
//
//go:generate go test -run TestLinguistFile -update .

// sameLanguage has the languages that CodeMirror and Linguist call by different names: Linguist's name
// on the left, CodeMirror's, which is the one we use, on the right. Names that differ in case only need
// no entry. A test sees to it that both sides exist.
//
// Not in it, because they are not one language: Public Key (PGP is one of several formats of it), MATLAB
// (Octave is another program), Java Properties (Properties files are INI to CodeMirror).
var sameLanguage = map[string]string{
	"Closure Templates":          "Soy",
	"E-mail":                     "mbox",
	"EJS":                        "Embedded JavaScript",
	"HTML+ERB":                   "Embedded Ruby",
	"INI":                        "Properties files",
	"JSONLD":                     "JSON-LD",
	"Jinja":                      "Jinja2",
	"Literate Haskell":           "Haskell (Literate)",
	"M":                          "MUMPS",
	"PigLatin":                   "Pig",
	"Protocol Buffer":            "ProtoBuf",
	"Roff":                       "troff",
	"Standard ML":                "SML",
	"TSX":                        "TypeScript-JSX",
	"TeX":                        "LaTeX",
	"Text":                       "Plain Text",
	"Unix Assembly":              "Gas",
	"Velocity Template Language": "Velocity",
	"Visual Basic .NET":          "VB.NET",
	"Vue":                        "Vue.js Component",
	"WebIDL":                     "Web IDL",
	"Wolfram Language":           "Mathematica",
	"mIRC Script":                "mIRC",
}

//go:embed linguist.json
var linguistFile []byte

// linguistLanguage is what Linguist says of a language.
type linguistLanguage struct {
	Name       string   `json:"name"`
	Mode       string   `json:"mode,omitempty"` // CodeMirror's
	MIMEType   string   `json:"mime,omitempty"`
	Color      string   `json:"color,omitempty"` // #rrggbb
	Extensions []string `json:"ext,omitempty"`   // without their dots, the usual one first
	Aliases    []string `json:"alias,omitempty"`
	// Filenames are those that need no extension, Interpreters the programs that a shebang names.
	Filenames    []string `json:"file,omitempty"`
	Interpreters []string `json:"run,omitempty"`
}

// readLinguist returns Linguist's languages in the order of their names.
func readLinguist() ([]linguistLanguage, error) {
	var languages []linguistLanguage
	if err := json.Unmarshal(linguistFile, &languages); err != nil {
		return nil, fmt.Errorf("read linguist.json: %w", err)
	}
	return languages, nil
}
