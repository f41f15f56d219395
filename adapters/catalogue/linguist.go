package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2/data"
)

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

// readLinguist returns Linguist's languages in the order of their names.
func readLinguist() []data.LanguageInfo {
	languages := make([]data.LanguageInfo, 0, len(data.LanguageInfoByID))
	for _, info := range data.LanguageInfoByID {
		languages = append(languages, info)
	}
	slices.SortFunc(languages, func(a, b data.LanguageInfo) int {
		return cmp.Or(cmp.Compare(fold(a.Name), fold(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return languages
}

// withoutDots returns Linguist's extensions as we write them.
func withoutDots(extensions []string) []string {
	bare := make([]string, len(extensions))
	for i, extension := range extensions {
		bare[i] = strings.TrimPrefix(extension, ".")
	}
	return bare
}
