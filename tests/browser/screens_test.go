package browser

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// sampleMarkdown has what people write in Markdown.
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

// TestPastes checks the pages of pastes of each kind. Several files have one name, and are edited twice.
func TestPastes(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	goCode := longCode(1000)
	log := strings.Repeat("2026-11-28T10:00:00.000Z INFO  joined bricks number=4815162342 wall=north mortar=0.35 "+
		"duration=12ms request=0d2f9c3e-8a77-4f0b-9f6e-1f2a3b4c5d6e\n", 12)
	store := func(title string, files ...pasty) string {
		return asOwner(t, http.MethodPost, origin+"/paste",
			map[string]any{"title": title, "tags": []string{"wall"}, "pasties": files})
	}
	twenty := make([]pasty, 20)
	for i := range twenty {
		twenty[i] = pasty{Title: fmt.Sprintf("internal/wall/brick%d.go", i/2), Language: "Go", Code: goCode}
	}
	one := store("A wall", pasty{Title: "wall.go", Language: "Go", Code: goCode})
	many := store("Twenty files", twenty...)
	edited := store("Two of one name", twenty[:2]...)
	for _, code := range []string{"package wall\n", "package walls\n"} {
		asOwner(t, http.MethodPatch, origin+"/paste/"+edited, map[string]any{"pasties": []pasty{
			{Title: "wall.go", Language: "Go", Code: code}, {Title: "wall.go", Language: "Go", Code: code}}})
	}
	manual := store("A manual", pasty{Title: "README.md", Language: "Markdown", Code: sampleMarkdown})
	cells := store("A notebook", pasty{Title: "a.ipynb", Language: "Jupyter Notebook", Code: sampleNotebook})
	logged := store("A log", pasty{Title: "wall.log", Language: "Plain Text", Code: log})
	table := store("A table", pasty{Title: "walls.csv", Language: "CSV",
		Code: "wall;height;built on;remark\nnorth;3,5;2026-11-28;\"leans, a little\"\nsouth;12,25;2026-10-01;\n"})
	lookAround(t, origin, "", map[string]string{
		"/" + one: "one", "/" + many: "twenty", "/" + edited + "/history": "history",
		"/" + manual: "markdown", "/" + cells: "notebook", "/" + logged: "log", "/" + table: "csv",
	})
}

// TestWriting drops files on the form, previews one, and creates pastes, also one that burns.
func TestWriting(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.at(screen)
			look := func(name string) {
				t.Helper()
				tab.wantFit()
				tab.wantUsableOn(screen, name)
				tab.wholePicture(name)
			}
			tab.show("/")
			tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
			look("empty")
			files := make(map[string]string)
			for name, text := range map[string]string{
				"README.md": sampleMarkdown, "wall.go": longCode(400), "bricks.txt": "red\n",
			} {
				files[name] = base64.StdEncoding.EncodeToString([]byte(text))
			}
			tab.drop(files)
			tab.wait(`document.querySelector("#name-3")?.value`)
			evaluate[bool](tab, `Array.from(document.querySelectorAll(".snippet .tools button")).
				find(button => button.checkVisibility() && button.textContent === "Preview").click(), true`)
			tab.wait(`document.querySelector(".preview td")`)
			look("preview")
			tab.press("button.main", ".created")
			look("created")
			tab.show("/")
			tab.fill("#code-1", "once")
			tab.do(tab.click("#burn"))
			tab.press("button.main", ".created")
			look("burning")
			tab.do(tab.click(".share:has(#open) summary"))
			tab.press("#open button", ".pasty")
			look("burnt")
		})
	}
}

// TestErrorPages checks the pages of what is not there and of what needs signing in.
func TestErrorPages(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	own := createOwn(t, origin)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := newTab(t, origin) // the browser complains about statuses
			tab.at(screen)
			for path, name := range map[string]string{"/unknown0": "missing", "/" + own + "/edit": "sign-in"} {
				tab.show(path)
				tab.wantFit()
				tab.wantUsableOn(screen, name)
				tab.wholePicture(name)
			}
		})
	}
}
