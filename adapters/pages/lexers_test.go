package pages

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	theirs "github.com/alecthomas/chroma/v2/lexers"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/application/languages"
)

var update = flag.Bool("update", false, "write the golden files")

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

// TestLexersAreChromas compares the archive with the version of chroma that the module asks for.
func TestLexersAreChromas(t *testing.T) {
	t.Parallel()
	const text = "package main // comment\n\n/* a */ func f(x int) string { return \"s\\n\" + 'c' + 0x1f }\n# heading\n<a href=\"b\">c</a>\n" +
		"def f(x): return None -- sql\nSELECT * FROM t WHERE a = 1.5e3;\n$x = @y; if [ -f z ]; then echo; fi\n"
	byName := readLexers()
	for _, name := range []string{"Go", "markdown", "Python", "HTML", "C++", "Bash", "YAML"} {
		if got, want := lexed(t, byName[strings.ToLower(name)], text), lexed(t, theirs.Get(name), text); got != want {
			t.Errorf("%s: got the tokens\n%s\nwant\n%s\ngo generate ./adapters/pages writes the archive", name, got, want)
		}
	}
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
