package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gluepot/gluepot/tests/program"
)

// pasty is a file of a paste to create, as the API takes it.
type pasty struct {
	Title    string `json:"title"`
	Language string `json:"language,omitempty"`
	Code     string `json:"code"`
}

// createPaste creates an anonymous paste that expires, and returns its id.
func createPaste(t *testing.T, origin, title string, pasties ...pasty) string {
	t.Helper()
	return createPasteFrom(t, origin, map[string]any{"title": title, "pasties": pasties, "expiresIn": "1w"})
}

// createPasteFrom creates an anonymous paste from a document of the API, and returns its id.
func createPasteFrom(t *testing.T, origin string, document map[string]any) string {
	t.Helper()
	body, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(origin+"/paste", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var paste struct {
		ID string `json:"_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&paste); err != nil || paste.ID == "" {
		t.Fatalf("POST /paste: got %s, error %v, want a paste with an id", response.Status, err)
	}
	return paste.ID
}

// useNarrowWindow makes the tab as narrow as a small phone, or as a window of 1280 pixels at a zoom of 400 %.
func (tab *tab) useNarrowWindow() {
	tab.t.Helper()
	tab.do(chromedp.EmulateViewport(320, 640))
}

// wantFit fails the test if the page is wider than the window, or if code does not use the width of the window.
func (tab *tab) wantFit() {
	tab.t.Helper()
	const misfits = `[
		...document.documentElement.scrollWidth > innerWidth ? ["the page is " + document.documentElement.scrollWidth] : [],
		...Array.from(document.querySelectorAll("main > :is(.pasty, .edit), .snippet, .pastes:has(pre)")).filter(e =>
			e.checkVisibility() && e.getBoundingClientRect().width < document.documentElement.clientWidth - 80).
			map(e => "." + e.className + " is " + e.getBoundingClientRect().width),
	]`
	if list := evaluate[[]string](tab, misfits); len(list) > 0 {
		tab.t.Errorf("%s: got widths in pixels %q, want that of the window, %v", tab.path(), list,
			evaluate[float64](tab, "innerWidth"))
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	tab := open(t, origin)
	tab.show("/demo-epoxy-1")
	if title := evaluate[string](tab, "document.title"); title != "A server in ten lines · Gluepot" {
		t.Errorf(`got the title %q, want "A server in ten lines · Gluepot"`, title)
	}
	if n := evaluate[int](tab, "document.querySelectorAll('.lines a').length"); n != 14 {
		t.Errorf("got %d lines, want 14", n)
	}
	tab.wantFit()
	tab.fullScreenshot("light")
	tab.setColourScheme("dark")
	tab.fullScreenshot("dark")
	tab.useNarrowWindow()
	tab.wantFit()
	tab.fullScreenshot("dark-phone")
	tab.setColourScheme("light")
	tab.fullScreenshot("phone")
}

// TestSelectLines selects lines with the mouse, and with a link.
func TestSelectLines(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	tab := open(t, origin)
	tab.show("/demo-epoxy-1")
	const selected = "Array.from(document.querySelectorAll('.selected a'), l => l.id).join(' ')"
	click := func(line, modifier string) {
		t.Helper()
		evaluate[bool](tab, `document.querySelector('[id="`+line+`"]').dispatchEvent(
			new MouseEvent('click', {bubbles: true, cancelable: true`+modifier+`})) || true`)
	}
	for _, step := range []struct{ line, modifier, hash, selected string }{
		{"1-L3", "", "#1-L3", "1-L3"},
		{"1-L5", ", shiftKey: true", "#1-L3-L5", "1-L3 1-L4 1-L5"},
		{"1-L1", ", shiftKey: true", "#1-L1-L3", "1-L1 1-L2 1-L3"},
		{"2-L2", ", shiftKey: true", "#2-L2", "2-L2"}, // another pasty
	} {
		click(step.line, step.modifier)
		hash, lines := evaluate[string](tab, "location.hash"), evaluate[string](tab, selected)
		if hash != step.hash || lines != step.selected {
			t.Errorf("click on %s%s: got the fragment %s and the selected lines %s, want %s and %s", step.line, step.modifier,
				hash, lines, step.hash, step.selected)
		}
	}
	tab.show("/demo-epoxy-1#1-L3-L7")
	if lines := evaluate[string](tab, selected); lines != "1-L3 1-L4 1-L5 1-L6 1-L7" {
		t.Errorf("got the selected lines %s with the fragment #1-L3-L7, want 1-L3 to 1-L7", lines)
	}
	tab.screenshot("selected")
	tab.setColourScheme("dark")
	tab.screenshot("selected-dark")
}

// TestSelectLinesWithKeyboard moves to the line numbers with Tab and between them with arrows, and selects lines.
func TestSelectLinesWithKeyboard(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	tab := open(t, origin)
	tab.show("/demo-epoxy-1")
	stops := evaluate[string](tab,
		`Array.from(document.querySelectorAll(".lines a[tabindex='0']"), a => a.hash).join(" ")`)
	if stops != "#1-L1 #2-L1" {
		t.Errorf("got the tab stops %s, want #1-L1 #2-L1, one for each pasty", stops)
	}
	evaluate[bool](tab, `document.querySelector(".code").focus() || true`)
	for _, step := range []struct {
		keys      string
		modifiers chromedp.Modifier
		focus     string
		hash      string
	}{
		{kb.Tab, 0, "#1-L1", ""},
		{kb.ArrowUp, 0, "#1-L1", ""},
		{kb.ArrowDown + kb.ArrowDown, 0, "#1-L3", ""},
		{kb.Enter, 0, "#1-L3", "#1-L3"},
		{kb.ArrowDown + kb.ArrowDown, chromedp.ModifierShift, "#1-L5", "#1-L3-L5"},
		{kb.Home, 0, "#1-L1", "#1-L3-L5"},
		{kb.Enter, chromedp.ModifierShift, "#1-L1", "#1-L1-L3"},
		{kb.ArrowDown, chromedp.ModifierShift, "#1-L2", "#1-L2-L3"},
	} {
		tab.do(chromedp.KeyEvent(step.keys, chromedp.KeyModifiers(step.modifiers)))
		focus, hash := evaluate[string](tab, "document.activeElement.hash"), evaluate[string](tab, "location.hash")
		if focus != step.focus || hash != step.hash {
			t.Errorf("keys %q, modifiers %d: got the focus on %s and the fragment %q, want %s and %q", step.keys,
				step.modifiers, focus, hash, step.focus, step.hash)
		}
	}
	tab.screenshot("selected")
	tab.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	if focus := evaluate[string](tab, "document.activeElement.hash"); focus != "#1-L2" {
		t.Errorf("got the focus on %s after Tab and Shift+Tab, want #1-L2, where it was before", focus)
	}
}

// TestCopy checks that the buttons to copy copy the exact code: of files, with characters that pages show only by name,
// of fenced blocks in Markdown and cells of notebooks, and on the page of a burning paste, which is shown once.
func TestCopy(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	const fence = "```go\nvar x = \"\x1b\"\n```"
	const codeInFence = "var x = \"\x1b\"\n"
	controls := "\ufeff" + strings.Repeat("\x01\x02\n", 5100)
	readme := pasty{Language: "Markdown", Code: "# A\n\n" + fence + "\n\nb"}
	cells, err := json.Marshal(map[string]any{"nbformat": 4, "cells": []map[string]any{
		{"cell_type": "markdown", "source": fence}, {"cell_type": "code", "source": "print(1)"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	notebook := pasty{Language: "Jupyter Notebook", Code: string(cells)}
	for name, c := range map[string]struct {
		files []pasty
		burn  bool
		want  []string // the copied text of each button, by default the code of the one file
	}{
		"text": {files: []pasty{{Language: "Plain Text", Code: "a <b> & \"c\"\n\n\tindented\u202e\n\nlast"}}},
		"control characters": {files: []pasty{{Language: "Vim script",
			Code: "normal! i\x1b\ncall feedkeys(\"\x07\")\x7f\u0085\ufeff\n"}}},
		"more control characters than a page names": {files: []pasty{{Language: "Plain Text", Code: controls}}},
		"Markdown": {files: []pasty{readme}, want: []string{readme.Code, codeInFence}},
		"notebook": {files: []pasty{notebook}, want: []string{notebook.Code, codeInFence, "print(1)"}},
		"burning": {files: []pasty{readme, notebook}, burn: true,
			want: []string{readme.Code, codeInFence, notebook.Code, codeInFence, "print(1)"}},
		"burning, more control characters than a page names": {
			files: []pasty{{Language: "Plain Text", Code: controls}, readme}, burn: true,
			want: []string{controls, readme.Code}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := createPasteFrom(t, origin, map[string]any{"title": "To copy", "pasties": c.files, "burn": c.burn})
			tab := open(t, origin)
			tab.show("/" + id)
			if c.burn {
				tab.press("#open button", ".pasty")
			}
			tab.replaceClipboard()
			if c.want == nil {
				c.want = []string{c.files[0].Code}
			}
			const buttons = `Array.from(document.querySelectorAll("button.copy:not([hidden])"))`
			if n := evaluate[int](tab, buttons+".length"); n != len(c.want) {
				t.Fatalf("got %d buttons to copy, want %d", n, len(c.want))
			}
			for i, want := range c.want {
				evaluate[bool](tab, fmt.Sprintf(`window.copiedText = "", window.button = %s[%d], button.click(), true`, buttons, i))
				tab.waitFor(`button.textContent === "Copied"`)
				if got := evaluate[string](tab, "window.copiedText"); got != want {
					t.Errorf("button %d: got the copied text %.200q, want %.200q", i+1, got, want)
				}
			}
		})
	}
}

// TestPrint checks that the print layout of files with long lines fits the page, and opens the details of Markdown.
func TestPrint(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	long := strings.Repeat("--option=1 ", 30) + strings.Repeat("x", 300)
	for name, file := range map[string]pasty{
		"code": {Language: "Shell", Code: long},
		"Markdown": {Language: "Markdown", Code: "```sh\n" + long + "\n```\n\n`" + long + "`\n\n|a|b|\n|-|-|\n|" + long +
			"|" + long + "|\n\n" +
			"<details><summary>More</summary>\n\n    " + long + "\n\n</details>"},
		"CSV": {Language: "CSV", Code: "a,b,c\n" + long + "," + strings.Repeat("1", 200) + ",2026-11-28T10:00:00Z\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := createPaste(t, origin, "To print", file)
			tab := open(t, origin)
			tab.do(chromedp.EmulateViewport(700, 900))
			command(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
			tab.show("/" + id)
			wide := evaluate[[]string](tab, `Array.from(document.querySelectorAll("body, .pasty *"),
				e => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > innerWidth ? e.tagName + "." +
					e.className : "").filter(Boolean)`)
			if len(wide) > 0 {
				t.Errorf("got the elements %v wider than the page, want none", wide)
			}
			hidden := evaluate[int](tab,
				`Array.from(document.querySelectorAll(".rendered details pre")).filter(e => !e.checkVisibility()).length`)
			if hidden > 0 {
				t.Errorf("got %d code blocks hidden in closed details, want 0", hidden)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	tab := open(t, serveDemonstration(t))
	tab.show("/demo-epoxy-2/history")
	for class, want := range map[string]int{"n": 2, "d": 2} {
		if n := evaluate[int](tab, "document.querySelectorAll('."+class+"').length"); n != want {
			t.Errorf("got %d lines of class %s, want %d", n, class, want)
		}
	}
	tab.wantFit()
	tab.fullScreenshot("light")
	tab.setColourScheme("dark")
	tab.useNarrowWindow()
	tab.wantFit()
	tab.fullScreenshot("dark-phone")
}

func TestProfile(t *testing.T) {
	t.Parallel()
	tab := open(t, serveDemonstration(t))
	tab.show("/~epoxy")
	links := evaluate[string](tab, "Array.from(document.querySelectorAll('.pastes a'), a => a.pathname).join(' ')")
	if links != "/demo-epoxy-1" {
		t.Errorf("got links to %s, want only /demo-epoxy-1, the public paste", links)
	}
	tab.wantFit()
	tab.fullScreenshot("light")
}

// TestHostilePastes opens pastes that try to break or deceive a browser.
func TestHostilePastes(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	const script = `</code></pre></title></script><script>document.title = "taken over"</script>` +
		`<img src=x onerror="document.title='taken over'">`
	thousand := make([]pasty, 1000)
	for i := range thousand {
		thousand[i] = pasty{Title: "main.go", Language: "Go", Code: "package main"}
	}
	for name, pasties := range map[string][]pasty{
		"script": {{Title: script, Language: "HTML", Code: script}},
		"bidi": {{Title: "access\u202e.txt", Language: "C", Code: "int main() {\n  bool admin = false;\n" +
			"  /*\u202e } \u2066if (admin)\u2069 \u2066 begin admins only */\n\x00 zero\u200bwidth\r\n  /* end */\n}\n"}},
		"long line":  {{Title: "one line", Language: "JavaScript", Code: strings.Repeat("x = 1; ", 150_000)}},
		"many files": thousand,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.show("/" + createPaste(t, origin, pasties[0].Title, pasties...))
			if title := evaluate[string](tab, "document.title"); title == "taken over" {
				t.Error("got the title that the script in the paste sets, want the script not to run")
			}
			if n := evaluate[int](tab, "document.querySelectorAll('.pasty').length"); n != len(pasties) {
				t.Errorf("got %d pasties, want %d", n, len(pasties))
			}
			tab.useNarrowWindow()
			tab.wantFit()
			tab.screenshot("phone")
		})
	}
}

// TestLongWords shows a paste whose title, tags, file names and code are as long as possible, without a place to break.
func TestLongWords(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	longWord := func(n int) string { return strings.Repeat("W", n) }
	id := sendAsOwner(t, http.MethodPost, origin+"/paste", map[string]any{
		"title": longWord(1000), "isPublic": true, "tags": []string{longWord(100), strings.Repeat("m", 100)},
		"pasties": []pasty{{Title: longWord(4000), Language: "Go", Code: "x"},
			{Title: "short", Language: "Go", Code: longWord(4000)}},
	})
	tab := open(t, origin)
	tab.signIn(program.EpoxyToken)
	for _, narrow := range []bool{false, true} {
		if narrow {
			tab.useNarrowWindow()
		}
		for _, path := range []string{"/" + id, "/" + id + "/edit", "/" + id + "/delete", "/" + id + "/history",
			"/pastes", "/~epoxy"} {
			tab.show(path)
			tab.wantFit()
		}
	}
}

// TestNotFoundPage opens the link of a paste that does not exist.
func TestNotFoundPage(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	tab := newTab(t, origin) // the browser complains about the status 404
	tab.show("/unknown0")
	if text := evaluate[string](tab, "document.querySelector('h1').innerText"); text != "There is nothing here" {
		t.Errorf(`got the heading %q, want "There is nothing here"`, text)
	}
	tab.screenshot("light")
}
