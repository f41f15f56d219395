package pages

import (
	"archive/zip"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	theirs "github.com/alecthomas/chroma/v2/lexers"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/application/languages"
)

var (
	update = flag.Bool("update", false, "write the golden files")
	large  = flag.Bool("large", false, "compare the tokens of all lexers instead of a few")
)

// TestLexersOfLanguages lists which lexer each language of the catalogue has, and which have none and are plain text.
func TestLexersOfLanguages(t *testing.T) {
	t.Parallel()
	known := languages.New(catalogue.New())
	l := newLexers(known)
	var with, without strings.Builder
	for _, language := range known.List.Do() {
		lexer := l.of(language.Name)
		if lexer == nil {
			without.WriteString(language.Name + "\n")
			continue
		}
		with.WriteString(language.Name)
		if name := lexer.Config().Name; !strings.EqualFold(name, language.Name) {
			with.WriteString(": " + name)
		}
		with.WriteString("\n")
	}
	got := "# Highlighted\n\n" + with.String() + "\n# Plain text\n\n" + without.String()
	const golden = "testdata/lexers.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got other lexers than in %s, which go test ./adapters/pages -update writes:\n%s", golden, got)
	}
	for language, lexer := range lexerNames {
		if _, err := known.FindByName.Do(language); err != nil || lexer != "" && l.byName()[strings.ToLower(lexer)] == nil {
			t.Errorf("%s and %s: got no such language or lexer, want both", language, lexer)
		}
	}
}

// mixed has something of most languages, and what is an error in all of them.
const mixed = "package main // comment\n\n/* a */ func f(x int) string { return \"s\\n\" + 'c' + 0x1f }\n# heading\n<a href=\"b\">c</a>\n" +
	"def f(x): return None -- sql\nSELECT * FROM t WHERE a = 1.5e3;\n$x = @y; if [ -f z ]; then echo; fi\n" +
	"\t\x00\u00e4\xff\u202e`%{~\r\n\r'\"\"\""

// TestLexersAreChromas compares the archive with the version of chroma that the module asks for.
func TestLexersAreChromas(t *testing.T) {
	t.Parallel()
	byName := readLexers()
	for _, name := range []string{"Go", "markdown", "Python", "HTML", "C++", "Bash", "YAML"} {
		if got, want := lexed(t, byName[strings.ToLower(name)], mixed), lexed(t, theirs.Get(name), mixed); got != want {
			t.Errorf("%s: got the tokens\n%s\nwant\n%s\ngo generate ./adapters/pages writes the archive", name, got, want)
		}
	}
}

// TestTokensAreChromas has chroma go through codes in its own way, by the same rules.
func TestTokensAreChromas(t *testing.T) {
	t.Parallel()
	ours, theirs := readLexers(), chromas(t)
	codes := make(map[chroma.Lexer][]string)
	for name, samples := range samples(t) {
		if lexer := theirs.Get(name); lexer != nil {
			codes[lexer] = append(codes[lexer], samples...)
		}
	}
	lexers := theirs.Lexers
	if !*large {
		lexers = nil
		for _, name := range []string{"Go", "JavaScript", "Python", "C++", "Rust", "JSON", "Bash", "HTML", "markdown", "PHP", "Ruby", "SQL"} {
			lexers = append(lexers, theirs.Get(name))
		}
	}
	for _, lexer := range lexers {
		name := lexer.Config().Name
		for _, code := range append(codes[lexer], mixed) {
			if got, want := lexed(t, ours[strings.ToLower(name)], code), lexed(t, lexer, code); got != want {
				t.Errorf("%s: got for %q the tokens\n%s\nwant\n%s", name, code, got, want)
			}
		}
	}
	if len(codes) < 100 {
		t.Errorf("got samples for %d lexers, want 100 or more: where are they?", len(codes))
	}
}

// chromas returns the lexers of the archive as chroma has them.
func chromas(t testing.TB) *chroma.LexerRegistry {
	t.Helper()
	archive, err := zip.NewReader(strings.NewReader(lexerArchive), int64(len(lexerArchive)))
	if err != nil {
		t.Fatal(err)
	}
	registry := chroma.NewLexerRegistry()
	for _, file := range archive.File {
		if path.Ext(file.Name) == ".xml" {
			registry.Register(chroma.MustNewXMLLexer(archive, file.Name))
		}
	}
	return registry
}

// samples returns the beginnings of the codes that chroma tests its lexers with, by a name of the lexer.
func samples(t testing.TB) map[string][]string {
	t.Helper()
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	samples := make(map[string][]string)
	root := os.DirFS(filepath.Join(strings.TrimSpace(string(folder)), "lexers", "testdata"))
	err = fs.WalkDir(root, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".actual" {
			return err
		}
		name, _, _ := strings.Cut(file, ".")
		name, _, _ = strings.Cut(name, "/")
		code, err := fs.ReadFile(root, file)
		samples[name] = append(samples[name], string(code[:min(len(code), 2<<10)]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

func lexed(t *testing.T, lexer chroma.Lexer, text string) string {
	t.Helper()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for range 10 * len(text) { // some never end
		token := next()
		if token == chroma.EOF {
			break
		}
		if token.Value != "" {
			fmt.Fprintf(&b, "%s %s|", token.Type, token.Value)
		}
	}
	return b.String()
}
