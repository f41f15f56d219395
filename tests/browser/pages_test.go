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

// pasty is one of a paste to create.
type pasty struct {
	Title    string `json:"title"`
	Language string `json:"language,omitempty"`
	Code     string `json:"code"`
}

// create stores an anonymous paste at an origin and returns its id.
func create(t *testing.T, origin, title string, pasties ...pasty) string {
	t.Helper()
	return createWith(t, origin, map[string]any{"title": title, "pasties": pasties, "expiresIn": "1w"})
}

func createWith(t *testing.T, origin string, document map[string]any) string {
	t.Helper()
	body, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(origin+"/paste", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	var made struct {
		ID string `json:"_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&made); err != nil || made.ID == "" {
		t.Fatalf("got %s, %v, want a paste", response.Status, err)
	}
	return made.ID
}

// phone makes the tab as narrow as a small phone, or as a window of 1280 pixels at a zoom of 400 %.
func (tab *tab) phone() {
	tab.t.Helper()
	tab.do(chromedp.EmulateViewport(320, 640))
}

// wantFit fails the test when the page is wider than the window, or code is narrower than the window allows.
func (tab *tab) wantFit() {
	tab.t.Helper()
	const misfits = `[
		...document.documentElement.scrollWidth > innerWidth ? ["the page is " + document.documentElement.scrollWidth] : [],
		...Array.from(document.querySelectorAll("main > :is(.pasty, .edit), .snippet, .pastes:has(pre)")).filter(e =>
			e.checkVisibility() && e.getBoundingClientRect().width < document.documentElement.clientWidth - 80).
			map(e => "." + e.className + " is " + e.getBoundingClientRect().width),
	]`
	if found := evaluate[[]string](tab, misfits); len(found) > 0 {
		tab.t.Errorf("%s: got pixels %q of %v, want the width of the window", tab.path(), found,
			evaluate[float64](tab, "innerWidth"))
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	tab := open(t, origin)
	tab.show("/demo-epoxy-1")
	if title := evaluate[string](tab, "document.title"); title != "A server in ten lines · Gluepot" {
		t.Errorf("got the title %q, want that of the paste", title)
	}
	if n := evaluate[int](tab, "document.querySelectorAll('.lines a').length"); n != 14 {
		t.Errorf("got %d lines, want 14", n)
	}
	tab.wantFit()
	tab.wholePicture("light")
	tab.prefer("dark")
	tab.wholePicture("dark")
	tab.phone()
	tab.wantFit()
	tab.wholePicture("dark-phone")
	tab.prefer("light")
	tab.wholePicture("phone")
}

// TestPasteLines selects lines with the script, and follows a link to one without it.
func TestPasteLines(t *testing.T) {
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
		if hash, got := evaluate[string](tab, "location.hash"), evaluate[string](tab, selected); hash != step.hash ||
			got != step.selected {
			t.Errorf("%s%s: got %s and %s selected, want %s and %s", step.line, step.modifier, hash, got, step.hash,
				step.selected)
		}
	}
	tab.show("/demo-epoxy-1#1-L3-L7")
	if got := evaluate[string](tab, selected); got != "1-L3 1-L4 1-L5 1-L6 1-L7" {
		t.Errorf("got %s selected by the address, want five lines", got)
	}
	tab.picture("selected")
	tab.prefer("dark")
	tab.picture("selected-dark")
}

// TestPasteLinesByKeys goes to the numbers with the tab key, from one to the next with arrows, and selects some.
func TestPasteLinesByKeys(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	tab := open(t, origin)
	tab.show("/demo-epoxy-1")
	stops := evaluate[string](tab,
		`Array.from(document.querySelectorAll(".lines a[tabindex='0']"), a => a.hash).join(" ")`)
	if stops != "#1-L1 #2-L1" {
		t.Errorf("got the stops %s of the tab key, want one for each pasty", stops)
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
			t.Errorf("%q: got the focus on %s and the address %s, want %s and %s", step.keys, focus, hash, step.focus, step.hash)
		}
	}
	tab.picture("selected")
	tab.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	if focus := evaluate[string](tab, "document.activeElement.hash"); focus != "#1-L2" {
		t.Errorf("got back to %s, want to where it was left", focus)
	}
}

// TestCopy replaces the browser's clipboard, and checks that the copied text is what Raw answers, including characters
// that a page can only name, also on a page that is shown once. A button of code in rendered Markdown or in a notebook
// copies that code.
func TestCopy(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	const fence = "```go\nvar x = \"\x1b\"\n```"
	const fenced = "var x = \"\x1b\"\n"
	many := "\ufeff" + strings.Repeat("\x01\x02\n", 5100)
	readme := pasty{Language: "Markdown", Code: "# A\n\n" + fence + "\n\nb"}
	notebook, err := json.Marshal(map[string]any{"nbformat": 4, "cells": []map[string]any{
		{"cell_type": "markdown", "source": fence}, {"cell_type": "code", "source": "print(1)"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	cells := pasty{Language: "Jupyter Notebook", Code: string(notebook)}
	for name, c := range map[string]struct {
		files  []pasty
		burns  bool
		copied []string // by each button of the page
	}{
		"text": {files: []pasty{{Language: "Plain Text", Code: "a <b> & \"c\"\n\n\tindented\u202e\n\nlast"}}},
		"control characters": {files: []pasty{{Language: "Vim script",
			Code: "normal! i\x1b\ncall feedkeys(\"\x07\")\x7f\u0085\ufeff\n"}}},
		"more control characters than a page names": {files: []pasty{{Language: "Plain Text", Code: many}}},
		"fence":    {files: []pasty{readme}, copied: []string{readme.Code, fenced}},
		"notebook": {files: []pasty{cells}, copied: []string{cells.Code, fenced, "print(1)"}},
		"shown once": {files: []pasty{readme, cells}, burns: true,
			copied: []string{readme.Code, fenced, cells.Code, fenced, "print(1)"}},
		"shown once, more control characters than a page names": {burns: true,
			files:  []pasty{{Language: "Plain Text", Code: many}, readme},
			copied: []string{many, readme.Code}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := createWith(t, origin, map[string]any{"title": "To copy", "pasties": c.files, "burn": c.burns})
			tab := open(t, origin)
			tab.show("/" + id)
			if c.burns {
				tab.press("#open button", ".pasty")
			}
			tab.keepCopies()
			if c.copied == nil {
				c.copied = []string{c.files[0].Code}
			}
			const shown = `Array.from(document.querySelectorAll("button.copy:not([hidden])"))`
			if n := evaluate[int](tab, shown+".length"); n != len(c.copied) {
				t.Fatalf("got %d buttons, want %d", n, len(c.copied))
			}
			for i, want := range c.copied {
				evaluate[bool](tab, fmt.Sprintf(`window.kept = "", window.pressed = %s[%d], pressed.click(), true`, shown, i))
				tab.wait(`pressed.textContent === "Copied"`)
				if got := evaluate[string](tab, "window.kept"); got != want {
					t.Errorf("got %.200q copied, want %.200q", got, want)
				}
			}
		})
	}
}

// TestPrint prints long lines of each kind, and checks that nothing is wider than the page.
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
			id := create(t, origin, "To print", file)
			tab := open(t, origin)
			tab.do(chromedp.EmulateViewport(700, 900))
			command(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
			tab.show("/" + id)
			wide := evaluate[[]string](tab, `Array.from(document.querySelectorAll("body, .pasty *"),
				e => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > innerWidth ? e.tagName + "." +
					e.className : "").filter(Boolean)`)
			if len(wide) > 0 {
				t.Errorf("got %v wider than the page, want nothing", wide)
			}
			hidden := evaluate[int](tab,
				`Array.from(document.querySelectorAll(".rendered details pre")).filter(e => !e.checkVisibility()).length`)
			if hidden > 0 {
				t.Errorf("got %d codes hidden in details, want them open", hidden)
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
	tab.wholePicture("light")
	tab.prefer("dark")
	tab.phone()
	tab.wantFit()
	tab.wholePicture("dark-phone")
}

func TestProfile(t *testing.T) {
	t.Parallel()
	tab := open(t, serveDemonstration(t))
	tab.show("/~epoxy")
	links := evaluate[string](tab, "Array.from(document.querySelectorAll('.pastes a'), a => a.pathname).join(' ')")
	if links != "/demo-epoxy-1" {
		t.Errorf("got links to %s, want the public paste alone", links)
	}
	tab.wantFit()
	tab.wholePicture("light")
}

// TestHostilePastes opens code that is meant to break or deceive a browser.
func TestHostilePastes(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	const script = `</code></pre></title></script><script>document.title = "taken over"</script>` +
		`<img src=x onerror="document.title='taken over'">`
	many := make([]pasty, 1000)
	for i := range many {
		many[i] = pasty{Title: "main.go", Language: "Go", Code: "package main"}
	}
	for name, pasties := range map[string][]pasty{
		"script": {{Title: script, Language: "HTML", Code: script}},
		"bidi": {{Title: "access\u202e.txt", Language: "C", Code: "int main() {\n  bool admin = false;\n" +
			"  /*\u202e } \u2066if (admin)\u2069 \u2066 begin admins only */\n\x00 zero\u200bwidth\r\n  /* end */\n}\n"}},
		"line": {{Title: "one line", Language: "JavaScript", Code: strings.Repeat("x = 1; ", 150_000)}},
		"many": many,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.show("/" + create(t, origin, pasties[0].Title, pasties...))
			if title := evaluate[string](tab, "document.title"); title == "taken over" {
				t.Error("got the title changed by the code of the paste, want it shown")
			}
			if n := evaluate[int](tab, "document.querySelectorAll('.pasty').length"); n != len(pasties) {
				t.Errorf("got %d pasties, want %d", n, len(pasties))
			}
			tab.phone()
			tab.wantFit()
			tab.picture("phone")
		})
	}
}

// TestLongWords shows the longest of everything, without a place to break.
func TestLongWords(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	word := func(n int) string { return strings.Repeat("W", n) }
	id := asOwner(t, http.MethodPost, origin+"/paste", map[string]any{
		"title": word(1000), "isPublic": true, "tags": []string{word(100), strings.Repeat("m", 100)},
		"pasties": []pasty{{Title: word(4000), Language: "Go", Code: "x"},
			{Title: "short", Language: "Go", Code: word(4000)}},
	})
	tab := open(t, origin)
	tab.signedIn(program.EpoxyToken)
	for _, narrow := range []bool{false, true} {
		if narrow {
			tab.phone()
		}
		for _, path := range []string{"/" + id, "/" + id + "/edit", "/" + id + "/delete", "/" + id + "/history",
			"/pastes", "/~epoxy"} {
			tab.show(path)
			tab.wantFit()
		}
	}
}

// TestNotFoundPage follows the link of a deleted paste.
func TestNotFoundPage(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	tab := newTab(t, origin) // the browser complains about the status
	tab.show("/unknown0")
	if text := evaluate[string](tab, "document.querySelector('h1').innerText"); text != "There is nothing here" {
		t.Errorf("got the heading %q, want that there is nothing", text)
	}
	tab.picture("light")
}
