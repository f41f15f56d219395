package browser

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// sampleMarkdown has the elements of Markdown that people use most.
const sampleMarkdown = `---
title: Mortar
license: MIT
---

# Mortar

Mortar joins *bricks* of data. See [the manual](https://example.com/manual), or press <kbd>F1</kbd>.

> [!NOTE]
> It needs water[^1].

- [x] mix
- [ ] apply

| tool | weight | for |
|:-----|-------:|:----|
| trowel | 350 | spreading mortar between bricks that are wider than any phone |
| bucket | 1200 | mixing |

## Use

` + "```go\nfunc main() {\n\tmortar.Join(os.Args[1:], mortar.Options{Water: 0.5, Sand: 3, Cement: 1})\n}\n```" + `

<details><summary>More</summary>

Let it dry for ` + "`24h`" + `.

</details>

[^1]: Clean.
`

// sampleNotebook has cells of each kind.
const sampleNotebook = `{"nbformat":4,"cells":[
	{"cell_type":"markdown","source":"# Walls\n\nHow **high** they are."},
	{"cell_type":"code","execution_count":1,"source":"for i in range(3):\n    print(i)","outputs":[
		{"output_type":"stream","text":["0\n","1\n","2\n"]},
		{"output_type":"error","ename":"ValueError","traceback":["ValueError: no bricks"]},
		{"output_type":"display_data","data":{"text/html":"<b>a table</b>"}}]}]}`

// TestPastePages checks the pages of pastes of each kind, and the history of two files with the same name.
func TestPastePages(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	goCode := longCode(1000)
	log := strings.Repeat("2026-11-28T10:00:00.000Z INFO  joined bricks number=4815162342 wall=north mortar=0.35 "+
		"duration=12ms request=0d2f9c3e-8a77-4f0b-9f6e-1f2a3b4c5d6e\n", 12)
	store := func(title string, files ...pasty) string {
		return sendAsOwner(t, http.MethodPost, origin+"/paste",
			map[string]any{"title": title, "tags": []string{"wall"}, "pasties": files})
	}
	twentyFiles := make([]pasty, 20)
	for i := range twentyFiles {
		twentyFiles[i] = pasty{Title: fmt.Sprintf("internal/wall/brick%d.go", i/2), Language: "Go", Code: goCode}
	}
	one := store("A wall", pasty{Title: "wall.go", Language: "Go", Code: goCode})
	twenty := store("Twenty files", twentyFiles...)
	edited := store("Two of one name", twentyFiles[:2]...)
	for _, code := range []string{"package wall\n", "package walls\n"} {
		sendAsOwner(t, http.MethodPatch, origin+"/paste/"+edited, map[string]any{"pasties": []pasty{
			{Title: "wall.go", Language: "Go", Code: code}, {Title: "wall.go", Language: "Go", Code: code}}})
	}
	markdown := store("A manual", pasty{Title: "README.md", Language: "Markdown", Code: sampleMarkdown})
	notebook := store("A notebook", pasty{Title: "a.ipynb", Language: "Jupyter Notebook", Code: sampleNotebook})
	logFile := store("A log", pasty{Title: "wall.log", Language: "Plain Text", Code: log})
	csv := store("A table", pasty{Title: "walls.csv", Language: "CSV",
		Code: "wall;height;built on;remark\nnorth;3,5;2026-11-28;\"leans, a little\"\nsouth;12,25;2026-10-01;\n"})
	checkPages(t, origin, "", map[string]string{
		"/" + one: "one", "/" + twenty: "twenty", "/" + edited + "/history": "history",
		"/" + markdown: "markdown", "/" + notebook: "notebook", "/" + logFile: "log", "/" + csv: "csv",
	})
}

// TestFormPages checks the form, a preview, and the page of a new paste, also of a burning one, on each screen.
func TestFormPages(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.useScreen(screen)
			checkPage := func(name string) {
				t.Helper()
				tab.wantFit()
				tab.wantAccessibleOn(screen, name)
				tab.fullScreenshot(name)
			}
			tab.show("/")
			tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
			checkPage("empty")
			files := make(map[string]string)
			for name, text := range map[string]string{
				"README.md": sampleMarkdown, "wall.go": longCode(400), "bricks.txt": "red\n",
			} {
				files[name] = base64.StdEncoding.EncodeToString([]byte(text))
			}
			tab.dropFiles(files)
			tab.waitFor(`document.querySelector("#name-3")?.value`)
			evaluate[bool](tab, `Array.from(document.querySelectorAll(".snippet .tools button")).
				find(button => button.checkVisibility() && button.textContent === "Preview").click(), true`)
			tab.waitFor(`document.querySelector(".preview td")`)
			checkPage("preview")
			tab.press("button.main", ".created")
			checkPage("created")
			tab.show("/")
			tab.fill("#code-1", "once")
			tab.do(tab.click("#burn"))
			tab.press("button.main", ".created")
			checkPage("burning")
			tab.do(tab.click(".share:has(#open) summary"))
			tab.press("#open button", ".pasty")
			checkPage("burnt")
		})
	}
}

// TestErrorPages checks the page for a missing paste, and the page that asks to sign in.
func TestErrorPages(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	edited := createEditedPaste(t, origin)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := newTab(t, origin) // the browser complains about the statuses 4xx
			tab.useScreen(screen)
			for path, page := range map[string]string{"/unknown0": "missing", "/" + edited + "/edit": "sign-in"} {
				tab.show(path)
				tab.wantFit()
				tab.wantAccessibleOn(screen, page)
				tab.fullScreenshot(page)
			}
		})
	}
}
