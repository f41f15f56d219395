package highlight

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/application/languages"
)

var large = flag.Bool("large", false, "try every opener in every language, for several minutes")

// openers begin a construct of some language. Repeated without an end, each makes a lexer search the rest of the text.
var openers = strings.Fields(`
<% {# {{ {% <? <!-- <![CDATA[ <script> <style> <a </ {{{ #{ ${ $( %{ %( [[ [=[ [a]( ( [ { /* (* {- -- --[[ // " """
' ''' q{ q( r#" R"( @" f"{ \ \( \[ \begin{ $$ $ @ @{ # #! #| #; =begin % & * ** | || : :: ; , . ... ~ ^ ! ? + - _ <
> = == => -> << <<A <<-A begin if def class do function GET a A 1 0x 1e x=" x='
a: a= a< a/ (? [^ {a: <# é <?php ` + "` ``` ```go ~~~")

// ends follow each opener.
var ends = []string{"", "\n"}

// wrappers embed code in another language.
var wrappers = map[string]func(language, code string) string{
	"markdown": func(language, code string) string { return "```" + language + "\n" + code + "\n```\n" },
	"Org Mode": func(language, code string) string {
		return "#+begin_src " + language + "\n" + code + "\n#+end_src\n"
	},
	"reStructuredText": func(language, code string) string {
		return ".. code-block:: " + language + "\n\n  " + code + "\n\nx\n"
	},
}

// workOn returns the processor time that a lexer takes for a code before it is stopped.
func workOn(lexer chroma.Lexer, code string) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, ok := tokenise(lexer, "a", minMaxWork, func() bool { return true }); !ok { // it compiles
		return 0
	}
	start := threadTime()
	_, _, _ = tokenise(lexer, code, new(Page).limit(len(code)), func() bool { return true })
	return threadTime() - start
}

// mostWork returns the most work for that many bytes of code: its limit, and one step of a lexer.
func mostWork(length int) time.Duration {
	return max(minMaxWork, time.Duration(length)*workPerByte) + 400*time.Millisecond
}

func wantLittleWork(t *testing.T, lexer chroma.Lexer, code string) {
	t.Helper()
	if work, most := workOn(lexer, code), mostWork(len(code)); work > most {
		t.Errorf("%.20q: got %v of work for %d bytes, want at most %v", code, work, len(code), most)
	}
}

// TestTemplateOpeners repeats openers for which chroma.DelegatingLexer takes quadratic time, also inside other
// languages.
func TestTemplateOpeners(t *testing.T) {
	t.Parallel()
	const length = 16 << 10
	for _, name := range []string{"ERB", "PHTML", "Go HTML Template", "YAML+Jinja", "Svelte", "HTML"} {
		lexer := lexers.Get(name)
		for opener := range strings.FieldsSeq("<% <%= <%# {# {{ {% <? <?php { <!-- <script> <style>") {
			t.Run(name+"/"+opener, func(t *testing.T) {
				t.Parallel()
				code := strings.Repeat(opener, length/len(opener))
				wantLittleWork(t, lexer, code)
				if opener != "<%" && opener != "{#" {
					return
				}
				alias := name
				if aliases := lexer.Config().Aliases; len(aliases) > 0 {
					alias = aliases[0]
				}
				for wrapper, wrap := range wrappers {
					wantLittleWork(t, lexers.Get(wrapper), wrap(alias, code))
				}
				for _, kind := range lexer.Config().MimeTypes {
					wantLittleWork(t, lexers.Get("HTTP"), "HTTP/1.1 200 OK\nContent-Type: "+kind+"\n\n"+code)
				}
			})
		}
	}
}

// TestOpeners tries every opener in every language: all of them with a part of the text, and those that took longest
// with all of it.
func TestOpeners(t *testing.T) {
	if !*large {
		t.Skip("with -large only")
	}
	const (
		length  = 128 << 10
		part    = 4 << 10
		longest = 3
	)
	useCases := languages.New(catalogue.New())
	seen := map[chroma.Lexer]bool{}
	for _, language := range useCases.List.Do() {
		lexer := lexerOf(language.Name, useCases)
		if lexer == nil || seen[lexer] {
			continue
		}
		seen[lexer] = true
		t.Run(language.Name, func(t *testing.T) {
			t.Parallel()
			work := map[string]time.Duration{}
			for _, opener := range openers {
				for _, end := range ends {
					unit := opener + end
					work[unit] = workOn(lexer, strings.Repeat(unit, part/len(unit)))
				}
			}
			units := slices.SortedFunc(maps.Keys(work), func(a, b string) int { return cmp.Compare(work[b], work[a]) })
			for _, unit := range units[:longest] {
				wantLittleWork(t, lexer, strings.Repeat(unit, length/len(unit)))
			}
		})
	}
}

// TestTemplates compares the tokens of template languages with those that chroma expects of its samples.
func TestTemplates(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2")
	dir, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file, name := range map[string]string{
		"erb": "ERB", "phtml": "PHTML", "go-html-template": "Go HTML Template", "ansible": "YAML+Jinja",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sample := filepath.Join(strings.TrimSpace(string(dir)), "lexers", "testdata", file)
			code, err := os.ReadFile(sample + ".actual")
			if err != nil {
				t.Fatal(err)
			}
			expected, err := os.ReadFile(sample + ".expected")
			if err != nil {
				t.Fatal(err)
			}
			var want []chroma.Token
			if err := json.Unmarshal(expected, &want); err != nil || len(want) == 0 {
				t.Fatalf("got %d tokens, %v, want chroma's", len(want), err)
			}
			next, err := chroma.Coalesce(lexers.Get(name)).Tokenise(&chroma.TokeniseOptions{State: "root"}, string(code))
			if err != nil {
				t.Fatal(err)
			}
			if got := next.Tokens(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
