package detection

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/language"
)

//go:embed testdata/samples.txt
var samplesFile string

type sample struct{ language, text string }

// samples returns short texts, each under a line "=== " and its language's name.
func samples(t testing.TB) []sample {
	t.Helper()
	var all []sample
	for part := range strings.SplitSeq(strings.TrimPrefix(samplesFile, "=== "), "\n=== ") {
		name, text, _ := strings.Cut(part, "\n")
		all = append(all, sample{name, text + "\n"})
	}
	if len(all) < 100 {
		t.Fatalf("got %d samples, want more than 100", len(all))
	}
	return all
}

// stubCatalogue finds every name, and two interpreters.
type stubCatalogue struct{ language.Catalogue }

func (stubCatalogue) ByName(name string) (*language.Language, bool) {
	return &language.Language{Name: name}, name != ""
}

func (stubCatalogue) ByInterpreter(name string) (*language.Language, bool) {
	return &language.Language{Name: "run by " + name}, name == "python" || name == "perl6"
}

func detect(text string) string {
	if l, ok := New(stubCatalogue{}).Detect(text); ok {
		return l.Name
	}
	return language.PlainText
}

// TestCommentsAreNotCode detects the language of a text with comments in another language.
func TestCommentsAreNotCode(t *testing.T) {
	t.Parallel()
	const text = "# import foo from 'bar'; const x = 1; function f() {}\n# let y = () => 2; console.log(y)\n" +
		"def f(a):\n    return a\n\nprint(f(1))\n"
	if got := detect(text); got != "Python" {
		t.Errorf("got %s, want Python, of:\n%s", got, text)
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for _, s := range samples(t) {
		count[s.language]++
		t.Run(fmt.Sprintf("%s/%d", s.language, count[s.language]), func(t *testing.T) {
			t.Parallel()
			if got := detect(s.text); got != s.language {
				t.Errorf("got %s, want %s, of:\n%s", got, s.language, s.text)
			}
			if got := detect(strings.ReplaceAll(s.text, "\n", "\r\n")); got != s.language {
				t.Errorf("with CRLF: got %s, want %s, of:\n%s", got, s.language, s.text)
			}
		})
	}
	table := loadFeatures()
	for _, name := range append([]string{"JSON", "YAML", "TOML", "Properties files", "Markdown", "diff"},
		table.languages...) {
		if count[name] == 0 {
			t.Errorf("got no sample of %s, want one", name)
		}
	}
	for _, common := range []string{"JavaScript", "Python", "Java", "C", "C++", "C#", "TypeScript", "Go", "PHP", "Ruby",
		"Rust", "Shell"} {
		if count[common] < 4 {
			t.Errorf("got %d samples of %s, want 4", count[common], common)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"#!/usr/bin/python\nx":                                  "run by python",
		"#!/usr/bin/env python3.12\nx":                          "run by python",
		"#!env python\nx":                                       "run by python",
		"#! /usr/bin/env -S LANG=C python3 -u\nx":               "run by python",
		"\ufeff#!/usr/bin/python\n":                             "run by python",
		"#!/usr/bin/perl6\n":                                    "run by perl6",
		"# -*- Ruby -*-\nx":                                     "Ruby",
		"/* -*- tab-width: 4; mode: C++; -*- */":                "C++",
		"x\n\n// vim: set ts=4 ft=go :\n":                       "go",
		"x\n# vi: filetype=lua\n":                               "lua",
		"#!\n":                                                  language.PlainText,
		"#!/usr/bin/env\n":                                      language.PlainText,
		"#!/opt/nobody/knows\n":                                 language.PlainText,
		"a\nb\nc\nd\ne\nf\n# -*- Ruby -*-\ng\nh\ni\nj\nk\nl\nm": language.PlainText,
		"":     language.PlainText,
		"\x00": language.PlainText,
	} {
		if got := detect(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestLongTexts checks that text beyond the scope costs nothing, whatever it is.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		long := strings.Repeat(s.text, 1+scope/len(s.text))
		end := strings.Repeat("x", 1<<20)
		if got, want := detect(long+end), detect(long[:scope]); got != want && s.language != "JSON" {
			t.Errorf("got %s, want %s as for its beginning, of:\n%s", got, want, s.text)
		}
	}
}

// TestQuotesWithoutEnd repeats escaped quotes after one that is not. The search for the closing quote must not read the
// rest of the text for each.
func TestQuotesWithoutEnd(t *testing.T) { // not parallel: it measures time
	fastest := func(text string) time.Duration {
		least := time.Hour
		for range 10 {
			start := time.Now()
			detect(text)
			least = min(least, time.Since(start))
		}
		return least
	}
	short, long := fastest(strings.Repeat(`\'\"`, scope/64)), fastest(strings.Repeat(`\'\"`, scope/4))
	t.Logf("a sixteenth of the scope: %v, all of it: %v", short, long)
	if long > 128*short { // the square takes 256 times as long
		t.Errorf("got %v for sixteen times the text that takes %v, want less than quadratic time", long, short)
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.text)
	}
	f.Add(`"""`)
	f.Add("/*")
	f.Add("\n\n\n\n\n\n# vim: ft=")
	f.Fuzz(func(t *testing.T, text string) {
		tokens := 0
		tokenize(text, func(string, string) { tokens++ })
		if limit := 2*len(text) + 3; tokens > limit {
			t.Errorf("got %d tokens of %d bytes, want at most %d", tokens, len(text), limit)
		}
		detect(text)
	})
}

func BenchmarkDetect(b *testing.B) {
	for name, text := range map[string]string{
		"2KiB of Go":        strings.Repeat("func main() {\n\tfmt.Println(\"x\")\n}\n", 57),
		"2MiB of Go":        strings.Repeat("func main() {\n\tfmt.Println(\"x\")\n}\n", 57000),
		"2MiB of brackets":  strings.Repeat("[", 2<<20),
		"2MiB of quotes":    strings.Repeat("'", 2<<20),
		"2MiB without ends": strings.Repeat("a ", 1<<20),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				detect(text)
			}
		})
	}
}

// TestLineWithColon checks that a message of one line is not taken for YAML.
func TestLineWithColon(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Error: cannot open file", "TODO: buy milk", "exception: null",
		"error: expected ';' before '}' token"} {
		if l, ok := New(stubCatalogue{}).Detect(text); ok && l.Name == "YAML" {
			t.Errorf("%q: got %s, want plain text", text, l.Name)
		}
	}
}
