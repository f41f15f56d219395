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

// loadDetection loads the scripts that detect and highlight languages in the page: colours is the module, and detect
// its function that returns the language of a text.
func (tab *tab) loadDetection() {
	tab.t.Helper()
	tab.do(chromedp.Evaluate[chromedp.Void](`(async () => {
		const pageScript = document.querySelector("script[src$='/page.js']").src;
		window.colours = await import(pageScript.replace("page.js", "colours.js"));
		window.detect = colours.languageOf.bind(null, "", "");
	})()`, chromedp.EvalAwaitPromise))
}

// quoteJS returns a text as a string literal of JavaScript.
func quoteJS(t *testing.T, text string) string {
	t.Helper()
	literal, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(literal)
}

// TestSameDetectionAsServer checks that the browser detects the same languages as the server. The browser needs to
// detect them in encrypted pastes, which the server cannot read.
func TestSameDetectionAsServer(t *testing.T) {
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
		for sample := range strings.SplitSeq("\n"+string(content), "\n=== ") {
			_, text, _ := strings.Cut(sample, "\n")
			texts = append(texts, text, strings.ReplaceAll(text, "\n", "\r\n"))
		}
	}
	tab := open(t, serveDemonstration(t))
	tab.show("/search")
	tab.loadDetection()
	server := detection.New(catalogue.New())
	for _, text := range texts {
		want := language.PlainText
		if l, ok := server.Detect(text); ok {
			want = l.Name
		}
		if got := evaluate[string](tab, "detect("+quoteJS(t, text)+")"); got != want {
			t.Errorf("got %s in the browser, want %s as on the server, for the text:\n%.500s", got, want, text)
		}
	}
}

// TestDetectionTime detects the language of texts that make regular expressions backtrack. Most take 5 ms of processor
// time. An expression whose time is quadratic in the length takes 700 ms or more.
func TestDetectionTime(t *testing.T) {
	t.Parallel()
	const query = "SELECT id, name\nLEFT JOIN x ON y\nPRIMARY KEY\n"
	tab := open(t, serveDemonstration(t))
	command(tab, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"})
	tab.show("/search")
	tab.loadDetection()
	for _, opener := range []string{
		"@@ -", "-*-", "vim:ft ", "select\n", "\nselect a from ", "from a", "\n", " ", "\t", "'", "\"", "[", "[1,", "{\"a\":",
		"\"\"\"", "FROM x\n", "ARG x\n", "#\n", "a=", "a: ", "a = [", "*", "|", "- ", "1", "<", "x;", "\\",
		"update x ", "create ",
		"with a ", "grant ", "a\n", "\"\\", "1=2=3 ",
	} {
		for _, ends := range [][2]string{{"", ""}, {"x", "x"}, {"#!env ", "1"}, {query, "\nx"}} {
			prefix, suffix := ends[0], ends[1]
			start := tab.cpuSeconds()
			evaluate[string](tab, fmt.Sprintf("detect(%s + %s.repeat(%d) + %s)", quoteJS(t, prefix), quoteJS(t, opener),
				16_000/len(opener), quoteJS(t, suffix)))
			if seconds := tab.cpuSeconds() - start; seconds > .35 {
				t.Errorf("got %.2f s of processor time, want at most 0.35 s, for %q, then %q repeated, then %q", seconds,
					prefix, opener, suffix)
			}
		}
	}
}

// TestHighlightingTime checks that parsers of texts that make them backtrack stop at their deadline, after 0.2 s.
// Markdown once took 46 s, because its time was quadratic in the length.
func TestHighlightingTime(t *testing.T) {
	t.Parallel()
	tab := open(t, serveDemonstration(t))
	command(tab, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"})
	tab.show("/search")
	tab.loadDetection()
	for _, name := range []string{"Markdown", "HTML", "PHP", "TypeScript-JSX", "JSON"} {
		for _, opener := range []string{"[a](", "*a_ ", "`", "<a ", "<?php ", "{", "[", "> ", "${"} {
			start := tab.cpuSeconds()
			// A text that is nested too deeply for the stack is not highlighted.
			spans := evaluate[int](tab, fmt.Sprintf(`(() => {
				try { return colours.spansOf(%s, %s.repeat(%d), performance.now() + 200).length; } catch { return 0; }
			})()`, quoteJS(t, name), quoteJS(t, opener), 128_000/len(opener)))
			if seconds := tab.cpuSeconds() - start; seconds > 2 {
				t.Errorf("%s: got %.2f s of processor time for %d spans of %q repeated, want about 0.2 s, at most 2 s", name,
					seconds, spans, opener)
			}
		}
	}
}
