package browser

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gluepot/gluepot/tests/program"
)

// editorText returns the text in the editor of a snippet. Snippets are counted from 1.
func (tab *tab) editorText(snippet string) string {
	tab.t.Helper()
	return evaluate[string](tab, `Array.from(document.querySelectorAll(".snippet:nth-child(`+snippet+`) .cm-line"),
		line => line.textContent).join("\n")`)
}

// waitFor waits until an expression in the page is true.
func (tab *tab) waitFor(expression string) {
	tab.t.Helper()
	for deadline := time.Now().Add(patience); !evaluate[bool](tab,
		"Boolean("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			tab.t.Fatalf("%s: got false for %v, want true", expression, patience)
		}
	}
}

// TestEditor creates a paste with the keyboard alone: the editor has the focus, Tab indents, Esc and Tab leave the
// editor, the file name sets the language, and Ctrl+Enter saves.
func TestEditor(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.show("/")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	tab.waitFor(`document.activeElement.className.includes("cm-content")`)
	tab.do(chromedp.KeyEvent("func main() {}\t// greets"))
	if code := tab.editorText("1"); code != "func main() {}    // greets" {
		t.Errorf(`got the text %q, want "func main() {}    // greets": Tab indents`, code)
	}
	tab.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Tab))
	if evaluate[bool](tab, `document.activeElement.className.includes("cm-content")`) {
		t.Error("got the focus in the editor after Esc and Tab, want it elsewhere")
	}
	tab.fill("#name-1", "main.go")
	tab.do(chromedp.KeyEvent(kb.Tab))
	tab.waitFor(`document.querySelector(".cm-content .k")?.textContent === "func" &&
		document.querySelector("#language-1").placeholder.startsWith("Go")`)
	tab.wantFit()
	tab.screenshot("written")
	tab.do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(2)), chromedp.WaitVisible(chromedp.CSS(".pasty")))
	if codes := tab.codes(); len(codes) != 1 || !strings.HasPrefix(codes[0], "func main()") {
		t.Errorf("got the saved code %q, want the one snippet that was typed", codes)
	}
}

// TestDetection checks that the editor detects the language of code without a file name, and none in a sentence, and
// that a file name takes precedence.
func TestDetection(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.show("/")
	tab.fill("#code-1", "import os\n\ndef main(args):\n    for arg in args:\n        print(arg)\n\n"+
		"if __name__ == '__main__':\n    main([])\n")
	const placeholder = `document.querySelector("#language-1").placeholder`
	tab.waitFor(placeholder + ` === "Python (from the text)" && document.querySelector(".cm-content .k")`)
	tab.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(kb.Delete))
	tab.fill("#code-1", "Dear all, the meeting is on Monday, and the minutes follow.")
	tab.waitFor(placeholder + ` === "Autodetect" && !document.querySelector(".cm-content .k")`)
	tab.fill("#name-1", "main.go")
	tab.do(chromedp.KeyEvent(kb.Tab))
	tab.waitFor(placeholder + ` === "Go (from the name)"`)
}

// TestDraft leaves a form and comes back: the draft is restored until it is saved, and only for the same user. A draft
// of an encrypted paste is not stored.
func TestDraft(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.show("/")
	tab.fill("#title", "Unfinished")
	tab.fill("#code-1", "half a thought")
	tab.show("/search")
	tab.show("/")
	tab.waitFor(`document.querySelector("#draft-status").textContent.includes("Restored")`)
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	code, title := tab.editorText("1"), evaluate[string](tab, `document.querySelector("#title").value`)
	if code != "half a thought" || title != "Unfinished" {
		t.Errorf("got the draft %q, %q, want the title and the code that were typed", title, code)
	}
	tab.screenshot("restored")
	tab.signIn(program.EpoxyToken)
	tab.show("/")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	if code := tab.editorText("1"); code != "" {
		t.Errorf("got the code %q on the form of another user, want none", code)
	}
	tab.do(tab.click(".top form button"), chromedp.WaitVisible(chromedp.CSS(`.top a[href^="/sign-in"]`)))
	tab.show("/")
	tab.waitFor(`document.querySelector("#draft-status").textContent.includes("Restored")`)
	tab.press("button.main", ".pasty")
	tab.show("/")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	if code := tab.editorText("1"); code != "" {
		t.Errorf("got the code %q after the draft was saved, want an empty form", code)
	}
	tab.fill("#code-1", "a secret")
	tab.do(tab.click("#encrypt"))
	tab.show("/search")
	if storage := evaluate[string](tab, `JSON.stringify(localStorage)`); strings.Contains(storage, "secret") {
		t.Errorf("got the storage %s, want no text that is to be encrypted", storage)
	}
}

// TestSnippetsOfForm removes, restores and moves snippets without a request, and checks that the page names the files
// that it refuses.
func TestSnippetsOfForm(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.show("/")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	text := base64.StdEncoding.EncodeToString([]byte("text of a file\n"))
	tab.dropFiles(map[string]string{"one.txt": text})
	tab.waitFor(`document.querySelector("#name-1").value === "one.txt"`)
	tab.dropFiles(map[string]string{"two.txt": text})
	tab.waitFor(`document.querySelector("#name-2")?.value === "two.txt"`)
	names := func() string {
		t.Helper()
		return evaluate[string](tab,
			`Array.from(document.querySelectorAll("#snippets [name=name]"), field => field.value).join()`)
	}
	tab.do(tab.click("button[value=remove-1]"))
	if got := names(); got != "two.txt" {
		t.Errorf("got the snippets %s after removing the first, want two.txt", got)
	}
	tab.do(tab.click("#snippets-status button"))
	if got := names(); got != "one.txt,two.txt" {
		t.Errorf("got the snippets %s after restoring the first, want one.txt,two.txt", got)
	}
	tab.do(tab.click(`.snippet:nth-child(2) [data-move=up]`))
	if got := names(); got != "two.txt,one.txt" {
		t.Errorf("got the snippets %s after moving the second up, want two.txt,one.txt", got)
	}
	large := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 2<<20+1)))
	tab.dropFiles(map[string]string{"large.log": large,
		"picture.png": base64.StdEncoding.EncodeToString([]byte("\x89PNG\xff"))})
	tab.waitFor(`!document.querySelector("#files-problem").hidden`)
	problem := evaluate[string](tab, `document.querySelector("#files-problem").textContent`)
	if !strings.Contains(problem, "large.log is larger than 2 MiB") ||
		!strings.Contains(problem, "picture.png is not UTF-8 text") {
		t.Errorf(`got the problem %q, want "large.log is larger than 2 MiB" and "picture.png is not UTF-8 text"`, problem)
	}
	tab.wantAccessible("a form with two snippets")
	tab.press("button.main", ".pasty")
	if codes := tab.codes(); len(codes) != 2 || codes[0] != "text of a file\n" {
		t.Errorf("got the saved code %q, want that of the 2 files", codes)
	}
}
