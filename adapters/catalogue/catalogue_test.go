package catalogue

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-enry/go-enry/v2/data"

	"github.com/gluepot/gluepot/domain/language"
)

func find(c *Catalogue, name string) string {
	if l, ok := c.ByName(name); ok {
		return l.Name
	}
	return ""
}

func TestEveryCodeMirrorLanguage(t *testing.T) {
	t.Parallel()
	c := New()
	codeMirror := readCodeMirror(t)
	if len(codeMirror) != 157+1 {
		t.Errorf("got %d languages, want %d", len(codeMirror), 157+1)
	}
	names := map[string][]string{}
	for _, k := range codeMirror {
		for _, extension := range k.Extensions {
			names[extension] = append(names[extension], k.Name)
		}
	}
	for _, k := range codeMirror {
		l, ok := c.ByName(strings.ToUpper(k.Name))
		if !ok || l.Name != k.Name || l.Mode != k.Mode {
			t.Errorf("%s: got %+v, want its mode %s", k.Name, l, k.Mode)
			continue
		}
		if !slices.Equal(l.MIMETypes[:len(k.MIMETypes)], k.MIMETypes) ||
			!slices.Equal(l.Extensions[:len(k.Extensions)], k.Extensions) {
			t.Errorf("%s: got %v and %v, want CodeMirror's %v and %v to come first", k.Name, l.MIMETypes, l.Extensions,
				k.MIMETypes, k.Extensions)
		}
		for _, alias := range k.Aliases {
			if match := find(c, alias); match != k.Name && !isName(c, alias) && !codeMirrorAliasOf(codeMirror, alias, match) {
				t.Errorf("the alias %s: got %s, want %s", alias, match, k.Name)
			}
		}
		for _, extension := range k.Extensions {
			l, _ := c.ByExtension(extension)
			want := names[extension]
			if owner, ok := owners[strings.ToLower(extension)]; ok {
				want = []string{owner}
			}
			if len(want) != 1 || l.Name != want[0] {
				t.Errorf("the extension %s: got %s, want %v", extension, l.Name, want)
			}
		}
	}
}

func isName(c *Catalogue, s string) bool {
	_, ok := c.ByName(s)
	return ok
}

func codeMirrorAliasOf(codeMirror []codeMirrorLanguage, alias, name string) bool {
	return slices.ContainsFunc(codeMirror, func(k codeMirrorLanguage) bool {
		return k.Name == name && slices.Contains(k.Aliases, alias)
	})
}

// TestLazyCatalogue checks that a command that does not use the catalogue pays next to nothing for it.
func TestLazyCatalogue(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	if got := testing.AllocsPerRun(1, func() { New() }); got > 10 {
		t.Errorf("got %v allocations of a catalogue that is not used, want at most 10", got)
	}
}

func TestEveryLinguistLanguage(t *testing.T) {
	t.Parallel()
	c := New()
	codeMirror := readCodeMirror(t)
	for _, info := range readLinguist() {
		want := info.Name
		if ours, ok := sameLanguage[want]; ok {
			want = ours
		}
		if match := find(c, info.Name); !strings.EqualFold(match, want) {
			t.Errorf("%s: got %q, want %q", info.Name, match, want)
			continue
		}
		l, _ := c.ByName(want)
		if l.Color != strings.ToLower(info.Color) {
			t.Errorf("%s: got the color %s, want %s", want, l.Color, info.Color)
		}
		for _, alias := range info.Aliases {
			match := find(c, alias)
			if match != l.Name && !isName(c, alias) && !codeMirrorAliasOf(codeMirror, alias, match) {
				t.Errorf("the alias %s: got %q, want %s", alias, match, l.Name)
			}
		}
		for _, extension := range info.Extensions {
			extension = strings.TrimPrefix(extension, ".")
			if !slices.Contains(l.Extensions, extension) {
				t.Errorf("%s: got the extensions %v, want %s among them", l.Name, l.Extensions, extension)
			}
			if _, ok := c.ByExtension(strings.ToUpper(extension)); !ok {
				t.Errorf("the extension %s in capitals: got nothing, want a language", extension)
			}
		}
	}
}

func TestSameLanguage(t *testing.T) {
	t.Parallel()
	codeMirror := readCodeMirror(t)
	linguist := map[string]bool{}
	for _, info := range readLinguist() {
		linguist[info.Name] = true
	}
	for theirs, ours := range sameLanguage {
		if !linguist[theirs] {
			t.Errorf("got no language %s of Linguist's, want one", theirs)
		}
		if !slices.ContainsFunc(codeMirror, func(k codeMirrorLanguage) bool { return k.Name == ours }) {
			t.Errorf("got no language %s of CodeMirror's, want one", ours)
		}
	}
}

// claimant is a language that claims an extension.
type claimant struct {
	language   *language.Language
	codeMirror bool
}

// hasOwner reports whether ownerOf follows an explicit decision or has no choice.
func hasOwner(folded string, claims []claimant) bool {
	if _, ok := owners[folded]; ok {
		return true
	}
	codeMirrors, others := map[*language.Language]bool{}, map[*language.Language]bool{}
	for _, c := range claims {
		if c.codeMirror {
			codeMirrors[c.language] = true
		} else {
			others[c.language] = true
		}
	}
	return len(codeMirrors) == 1 || len(codeMirrors) == 0 && len(others) == 1
}

// TestContestedExtensions lists extensions without an explicit decision. Add the language that most people mean to the
// table in owners_test.go.
func TestContestedExtensions(t *testing.T) {
	t.Parallel()
	contested, all := 0, allClaims(t)
	for extension, claims := range all {
		if len(claims) < 2 {
			continue
		}
		contested++
		if !hasOwner(extension, claims) {
			var names []string
			for _, c := range claims {
				names = append(names, c.language.Name)
			}
			t.Errorf("%s: got no owner, want one of %s", extension, strings.Join(names, ", "))
		}
	}
	if contested < 150 {
		t.Errorf("got %d contested extensions, want at least 150: does the test still look at them?", contested)
	}
	for extension := range owners {
		if len(all[extension]) < 2 {
			t.Errorf("%s: got an owner, want none, because it is no longer contested: take it out of the table", extension)
		}
	}
}

// allClaims returns the languages that claim each extension in lower case, once for each source.
func allClaims(t *testing.T) map[string][]claimant {
	t.Helper()
	c := New()
	codeMirror := readCodeMirror(t)
	claims := map[string][]claimant{}
	for _, k := range codeMirror {
		l, _ := c.ByName(k.Name)
		for _, extension := range k.Extensions {
			key := strings.ToLower(extension)
			claims[key] = append(claims[key], claimant{language: l, codeMirror: true})
		}
	}
	for _, l := range c.All() {
		for _, extension := range l.Extensions {
			key := strings.ToLower(extension)
			if !slices.ContainsFunc(claims[key], func(c claimant) bool { return c.language == l }) {
				claims[key] = append(claims[key], claimant{language: l})
			}
		}
	}
	return claims
}

func TestWhatPeopleMean(t *testing.T) {
	t.Parallel()
	c := New()
	for extension, want := range map[string]string{
		"rs": "Rust", "md": "Markdown", "ts": "TypeScript", "h": "C", "m": "Objective-C", "sql": "SQL", "txt": "Plain Text",
		"R": "R", "r": "R", "e": "Eiffel", "pl": "Perl", "yml": "YAML", "cs": "C#", "html": "HTML", "json": "JSON",
		"tsx": "TypeScript-JSX",
		"v":   "Verilog", "gs": "JavaScript", "sol": "Solidity", "tex": "LaTeX", "vue": "Vue.js Component",
		"ini": "Properties files",
	} {
		if l, ok := c.ByExtension(extension); !ok || l.Name != want {
			t.Errorf("%s: got %+v, want %s", extension, l, want)
		}
	}
	for name, want := range map[string]string{
		"cpp": "C++", "js": "JavaScript", "golang": "Go", "bash": "Shell", "fsharp": "F#", "Vue": "Vue.js Component",
		"ini": "Properties files",
		"tsx": "TypeScript-JSX", "py": "Python", "rb": "Ruby", "c++": "C++", "text": "Plain Text", "autodetect": "Autodetect",
		"plain text": "Plain Text",
		"JSON5":      "JSON5", "octave": "Octave", "tex": "LaTeX", "gas": "Gas", "m": "MUMPS",
	} {
		if match := find(c, name); match != want {
			t.Errorf("%s: got %q, want %s", name, match, want)
		}
	}
}

var colorPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)

func TestShape(t *testing.T) {
	t.Parallel()
	c := New()
	if len(c.All()) < 800 {
		t.Errorf("got %d languages, want at least 800", len(c.All()))
	}
	seen := map[string]bool{}
	for _, l := range c.All() {
		if seen[strings.ToLower(l.Name)] {
			t.Errorf("%s: got it twice, want it once", l.Name)
		}
		seen[strings.ToLower(l.Name)] = true
		if l.Mode == "" || len(l.MIMETypes) == 0 || l.Color != "" && !colorPattern.MatchString(l.Color) {
			t.Errorf("got %+v, want a mode, a MIME type and a color, if any, such as #00add8", l)
		}
		for _, key := range slices.Concat([]string{l.Name}, l.Aliases, l.Extensions) {
			if key == "" {
				t.Errorf("%s: got an empty name, alias or extension, want none", l.Name)
			}
		}
		for _, extension := range l.Extensions {
			if strings.HasPrefix(extension, ".") {
				t.Errorf("%s: got the extension %s, want it without a dot", l.Name, extension)
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	c := New()
	for _, seed := range []string{"", "Go", "c++", "\x00", "\xff", "\u202e", strings.Repeat("a", 100), "ſ", "K"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		for _, lookup := range []func(string) (*language.Language, bool){c.ByName, c.ByExtension} {
			if l, ok := lookup(key); ok != (l != nil) {
				t.Errorf("%q: got %v, %v, want a language or nothing", key, l, ok)
			}
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		New().All()
	}
}

func BenchmarkByName(b *testing.B) {
	c := New()
	for b.Loop() {
		c.ByName("JavaScript")
	}
}

// TestContestedNames lists names that several languages claim and that neither filenameOwners nor interpreterOwners
// decides.
func TestContestedNames(t *testing.T) {
	t.Parallel()
	c := New()
	for what, kind := range map[string]struct {
		claims map[string][]string
		owners map[string]string
		find   func(string) (*language.Language, bool)
	}{
		"file":        {data.LanguagesByFilename, filenameOwners, c.ByFilename},
		"interpreter": {data.LanguagesByInterpreter, interpreterOwners, c.ByInterpreter},
	} {
		for name, claims := range kind.claims {
			match, ok := kind.find(name)
			if !ok {
				t.Errorf("the %s %s: got nothing, want one of %v", what, name, claims)
				continue
			}
			if want, decided := kind.owners[name]; decided && match.Name != want || !decided && len(claims) > 1 {
				t.Errorf("the %s %s: got %s, want a decision between %v", what, name, match.Name, claims)
			}
		}
	}
	for name, want := range map[string]string{"Makefile": "Makefile", "Dockerfile": "Dockerfile", "makefile": "Makefile",
		".bashrc": "Shell"} {
		if match, _ := c.ByFilename(name); match == nil || match.Name != want {
			t.Errorf("the file %s: got %v, want %s", name, match, want)
		}
	}
}

// TestWhatExtensionsMean checks extensions that some registry gives to a language which few people mean.
func TestWhatExtensionsMean(t *testing.T) {
	t.Parallel()
	c := New()
	for extension, want := range map[string]string{
		"cfg": "Properties files", "ini": "Properties files", "el": "Emacs Lisp", "hbs": "Handlebars",
		"handlebars": "Handlebars",
		"bzl":        "Starlark", "ino": "C++", "pro": "QMake", "lisp": "Common Lisp", "html": "HTML",
		"py": "Python", "h": "C",
		"m": "Objective-C", "ts": "TypeScript", "rs": "Rust", "pl": "Perl", "r": "R", "tex": "LaTeX",
		"vue": "Vue.js Component",
		"tf":  "HCL", "toml": "TOML", "yml": "YAML", "sh": "Shell", "ps1": "PowerShell", "kt": "Kotlin", "md": "Markdown",
	} {
		t.Run(extension, func(t *testing.T) {
			t.Parallel()
			if match, ok := c.ByExtension(extension); !ok || match.Name != want {
				t.Errorf("got %+v, want %s", match, want)
			}
		})
	}
}
