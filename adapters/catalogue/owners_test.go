package catalogue

// owners says which language most people mean by an extension that several claim: where CodeMirror names
// a language that few mean, where it names several, and where it names none and Linguist several. Each
// line is a judgement, to be argued with in review. A test lists the contested extensions that no line
// decides. Keys are in lower case.
var owners = map[string]string{
	// CodeMirror has one that few mean.
	"bzl":        "Starlark",
	"cfg":        "Properties files",
	"el":         "Emacs Lisp",
	"handlebars": "Handlebars",
	"hbs":        "Handlebars",
	"ino":        "C++",
	"pro":        "QMake",

	// CodeMirror has several.
	"jsonld": "JSON-LD",
	"m":      "Objective-C",
	"sig":    "PGP",
	"text":   "Plain Text",
	"v":      "Verilog",

	// Linguist has several, CodeMirror none.
	"1in":        "troff",
	"1m":         "troff",
	"1x":         "troff",
	"3in":        "troff",
	"3m":         "troff",
	"3p":         "troff",
	"3pm":        "troff",
	"3qt":        "troff",
	"3x":         "troff",
	"al":         "AL",
	"as":         "ActionScript",
	"ash":        "AGS Script",
	"asm":        "Assembly",
	"asy":        "Asymptote",
	"bas":        "BASIC",
	"bb":         "BitBake",
	"bi":         "FreeBASIC",
	"brd":        "Eagle",
	"bs":         "BrighterScript",
	"bst":        "BibTeX Style",
	"cairo":      "Cairo",
	"cake":       "C#", // Cake build scripts
	"cgi":        "Perl",
	"ch":         "xBase",
	"cls":        "Apex",
	"cp":         "C++",
	"csl":        "XML", // citation styles
	"cue":        "CUE",
	"ddl":        "SQL",
	"dsc":        "Debian Package Control File",
	"dsp":        "Faust",
	"es":         "JavaScript",
	"ex":         "Elixir",
	"fcgi":       "Perl",
	"fr":         "Frege",
	"frag":       "GLSL",
	"frm":        "Visual Basic 6.0",
	"ftl":        "FreeMarker",
	"fx":         "HLSL",
	"g":          "G-code",
	"gd":         "GDScript",
	"gml":        "Game Maker Language",
	"gs":         "JavaScript", // Google Apps Script
	"gst":        "Gosu",
	"gts":        "Glimmer TS",
	"i":          "SWIG",
	"ice":        "Slice",
	"inc":        "PHP",
	"j":          "Objective-J",
	"jq":         "jq",
	"k":          "KCL",
	"ks":         "Kickstart",
	"l":          "Lex",
	"lean":       "Lean 4",
	"lp":         "Linear Programming",
	"lsp":        "Common Lisp",
	"m4":         "M4",
	"man":        "troff",
	"mask":       "Unity3D Asset",
	"mc":         "Monkey C",
	"mdoc":       "troff",
	"mod":        "Modula-2",
	"mojo":       "Mojo",
	"moo":        "Moocode",
	"mqh":        "MQL5",
	"ms":         "MAXScript",
	"msg":        "ROS Interface",
	"n":          "Nemerle",
	"nas":        "Nasal",
	"ncl":        "NCL",
	"nl":         "NewLisp",
	"nr":         "Noir",
	"nu":         "Nushell",
	"odin":       "Odin",
	"pbt":        "Protocol Buffer Text Format",
	"pkl":        "Pkl",
	"plist":      "XML Property List",
	"plt":        "Gnuplot",
	"pluginspec": "Ruby",
	"pod":        "Pod",
	"prc":        "PLSQL",
	"qs":         "Q#",
	"re":         "Reason",
	"res":        "ReScript",
	"rno":        "RUNOFF",
	"rpy":        "Ren'Py",
	"rsc":        "RouterOS Script",
	"sc":         "Scala",
	"scd":        "SuperCollider",
	"sch":        "KiCad Schematic",
	"shader":     "ShaderLab",
	"sls":        "SaltStack",
	"sol":        "Solidity",
	"srt":        "SubRip Text",
	"star":       "Starlark",
	"svx":        "mdsvex",
	"sw":         "Sway",
	"t":          "Perl",
	"tact":       "Tact",
	"tl":         "Teal",
	"toc":        "World of Warcraft Addon Data",
	"trigger":    "Apex",
	"tsp":        "TypeSpec",
	"tst":        "GAP",
	"typ":        "Typst",
	"vba":        "VBA",
	"vcf":        "vCard",
	"vhost":      "ApacheConf",
	"w":          "OpenEdge ABL",
	"workflow":   "XML",
	"x":          "RPC",
	"yy":         "Yacc",
}

// filenameOwners and interpreterOwners do the same for file names and interpreters that several of Linguist's languages
// claim. A test lists those that neither decides.
var (
	filenameOwners = map[string]string{
		"HOSTS": "Hosts File",
		"hosts": "Hosts File",
	}
	interpreterOwners = map[string]string{
		"lua":    "Lua",
		"ocaml":  "OCaml",
		"parrot": "Parrot Assembly",
		"perl":   "Perl",
		"perl6":  "Raku",
	}
)

// sameLanguage has the languages that CodeMirror and Linguist call by different names: Linguist's name
// on the left, CodeMirror's, which is the one we use, on the right. Names that differ in case only need
// no entry. A test checks that both sides exist.
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

// clientAliases are names that clients of v2 use and neither source has, by the language's name.
var clientAliases = map[string][]string{
	"Dockerfile": {"Docker"},
	"Plain Text": {"plaintext"},
	"Tiki wiki":  {"TikiWiki"},
}
