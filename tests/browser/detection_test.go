package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/detection"
	"github.com/gluepot/gluepot/domain/language"
)

// detects gives a page what detects languages there.
func (tab *tab) detects() {
	tab.t.Helper()
	tab.do(chromedp.Evaluate[chromedp.Void](`(async () => {
		const page = document.querySelector("script[src$='/page.js']").src;
		window.colours = await import(page.replace("page.js", "colours.js"));
		window.detect = colours.languageOf.bind(null, "", "");
	})()`, chromedp.EvalAwaitPromise))
}

// inScript is a text in JavaScript.
func inScript(t *testing.T, text string) string {
	t.Helper()
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// TestSameDetection detects languages in the browser, which reads what the server must not, and on the server.
func TestSameDetection(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "x", "{}", "[]", "[1]", "[", "{\"a\": tru", "{\"a\": 1} x", "[2026-11-28]", "[1]\n[2]\n", "{\"a\": \"\\d\"}",
		"\ufeff#!/usr/bin/env -S LANG=C python3.12 -u\nx", "#!/bin/sh\n", "#!/opt/nobody/knows\n", "#!env\nx",
		"\n\n#!/usr/bin/perl\n",
		"# -*- Ruby -*-\nx", "/* -*- tab-width: 4; mode: C++; -*- */", "x\n\n// vim: set ts=4 ft=go :\n",
		"# vi: filetype=nonsense\n",
		"select a\n  from b;\n", "We select one\nfrom many, and insert\ninto none.",
	}
	for _, file := range []string{"samples", "plain", "outputs"} {
		content, err := os.ReadFile("../../adapters/detection/testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq("\n"+string(content), "\n=== ") {
			_, text, _ := strings.Cut(part, "\n")
			texts = append(texts, text, strings.ReplaceAll(text, "\n", "\r\n"))
		}
	}
	tab := open(t, serveDemonstration(t))
	tab.show("/search")
	tab.detects()
	server := detection.New(catalogue.New())
	for _, text := range texts {
		want := language.PlainText
		if l, ok := server.Detect(text); ok {
			want = l.Name
		}
		if got := evaluate[string](tab, "detect("+inScript(t, text)+")"); got != want {
			t.Errorf("got %s in the browser, want %s as on the server, of:\n%.500s", got, want, text)
		}
	}
}

// TestWorkOfDetection detects the language of what makes expressions go back and forth. Most take 5 ms of processor
// time. What takes the square of the length takes 700 ms and more.
func TestWorkOfDetection(t *testing.T) {
	t.Parallel()
	const query = "SELECT id, name\nLEFT JOIN x ON y\nPRIMARY KEY\n"
	tab := open(t, serveDemonstration(t))
	command(tab, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"})
	tab.show("/search")
	tab.detects()
	for _, opener := range []string{
		"@@ -", "-*-", "vim:ft ", "select\n", "\nselect a from ", "from a", "\n", " ", "\t", "'", "\"", "[", "[1,", "{\"a\":",
		"\"\"\"", "FROM x\n", "ARG x\n", "#\n", "a=", "a: ", "a = [", "*", "|", "- ", "1", "<", "x;", "\\",
		"update x ", "create ",
		"with a ", "grant ", "a\n", "\"\\", "1=2=3 ",
	} {
		for _, c := range [][2]string{{"", ""}, {"x", "x"}, {"#!env ", "1"}, {query, "\nx"}} {
			began := tab.worked()
			evaluate[string](tab, fmt.Sprintf("detect(%s + %s.repeat(%d) + %s)", inScript(t, c[0]), inScript(t, opener),
				16_000/len(opener), inScript(t, c[1])))
			if took := tab.worked() - began; took > .35 {
				t.Errorf("got %.2f s of work, want less, for %q, %q many times, %q", took, c[0], opener, c[1])
			}
		}
	}
}

// TestWorkOfColours gives parsers a fifth of a second for what makes them go back and forth. Markdown that took time
// quadratic in its length took 46 seconds.
func TestWorkOfColours(t *testing.T) {
	t.Parallel()
	tab := open(t, serveDemonstration(t))
	command(tab, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"})
	tab.show("/search")
	tab.detects()
	for _, name := range []string{"Markdown", "HTML", "PHP", "TypeScript-JSX", "JSON"} {
		for _, opener := range []string{"[a](", "*a_ ", "`", "<a ", "<?php ", "{", "[", "> ", "${"} {
			began := tab.worked()
			// What is nested deeper than the stack stays plain.
			spans := evaluate[int](tab, fmt.Sprintf(`(() => {
				try { return colours.spansOf(%s, %s.repeat(%d), performance.now() + 200).length; } catch { return 0; }
			})()`, inScript(t, name), inScript(t, opener), 128_000/len(opener)))
			if took := tab.worked() - began; took > 2 {
				t.Errorf("%s: got %.2f s of work for %d colours, want a fifth of a second, of %q", name, took, spans, opener)
			}
		}
	}
}
