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

// typed returns the lines of the editor of a snippet.
func (tab *tab) typed(number string) string {
	tab.t.Helper()
	return evaluate[string](tab, `Array.from(document.querySelectorAll(".snippet:nth-child(`+number+`) .cm-line"),
		line => line.textContent).join("\n")`)
}

// wait waits until an expression in the page is true.
func (tab *tab) wait(expression string) {
	tab.t.Helper()
	for deadline := time.Now().Add(patience); !evaluate[bool](tab,
		"Boolean("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			tab.t.Fatalf("got no %s within %v", expression, patience)
		}
	}
}

// TestEditor writes a paste by keyboard alone: the code has the focus, colours come with the name, Tab indents, Esc and
// Tab leave, and Ctrl+Enter saves.
func TestEditor(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.show("/")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	tab.wait(`document.activeElement.className.includes("cm-content")`)
	tab.do(chromedp.KeyEvent("func main() {}\t// greets"))
	if code := tab.typed("1"); code != "func main() {}    // greets" {
		t.Errorf("got %q typed, want Tab to indent", code)
	}
	tab.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Tab))
	if evaluate[bool](tab, `document.activeElement.className.includes("cm-content")`) {
		t.Error("got the focus still in the code, want Esc and Tab to leave it")
	}
	tab.fill("#name-1", "main.go")
	tab.do(chromedp.KeyEvent(kb.Tab))
	tab.wait(`document.querySelector(".cm-content .k")?.textContent === "func" &&
		document.querySelector("#language-1").placeholder.startsWith("Go")`)
	tab.wantFit()
	tab.picture("written")
	tab.do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(2)), chromedp.WaitVisible(chromedp.CSS(".pasty")))
	if codes := tab.codes(); len(codes) != 1 || !strings.HasPrefix(codes[0], "func main()") {
		t.Errorf("got %q, want what was typed", codes)
	}
}

// TestDetection colours what is typed without a name, by what it looks like, and a sentence not at all.
func TestDetection(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.show("/")
	tab.fill("#code-1", "import os\n\ndef main(args):\n    for arg in args:\n        print(arg)\n\n"+
		"if __name__ == '__main__':\n    main([])\n")
	const placeholder = `document.querySelector("#language-1").placeholder`
	tab.wait(placeholder + ` === "Python (from the text)" && document.querySelector(".cm-content .k")`)
	tab.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(kb.Delete))
	tab.fill("#code-1", "Dear all, the meeting is on Monday, and the minutes follow.")
	tab.wait(placeholder + ` === "Autodetect" && !document.querySelector(".cm-content .k")`)
	tab.fill("#name-1", "main.go")
	tab.do(chromedp.KeyEvent(kb.Tab))
	tab.wait(placeholder + ` === "Go (from the name)"`)
}

// TestDraft leaves a form and comes back: the draft is there until it is saved, for its writer only.
func TestDraft(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.show("/")
	tab.fill("#title", "Unfinished")
	tab.fill("#code-1", "half a thought")
	tab.show("/search")
	tab.show("/")
	tab.wait(`document.querySelector("#draft-status").textContent.includes("Restored")`)
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	code, title := tab.typed("1"), evaluate[string](tab, `document.querySelector("#title").value`)
	if code != "half a thought" || title != "Unfinished" {
		t.Errorf("got %q and %q, want what was typed", title, code)
	}
	tab.picture("restored")
	tab.signedIn(program.EpoxyToken)
	tab.show("/")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	if code := tab.typed("1"); code != "" {
		t.Errorf("got %q on the form of another user, want nothing", code)
	}
	tab.do(tab.click(".top form button"), chromedp.WaitVisible(chromedp.CSS(`.top a[href^="/sign-in"]`)))
	tab.show("/")
	tab.wait(`document.querySelector("#draft-status").textContent.includes("Restored")`)
	tab.press("button.main", ".pasty")
	tab.show("/")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	if code := tab.typed("1"); code != "" {
		t.Errorf("got %q after it was saved, want an empty form", code)
	}
	// What is to be encrypted is not kept.
	tab.fill("#code-1", "a secret")
	tab.do(tab.click("#encrypt"))
	tab.show("/search")
	if drafts := evaluate[string](tab, `JSON.stringify(localStorage)`); strings.Contains(drafts, "secret") {
		t.Errorf("got %s kept, want no secret", drafts)
	}
}

// TestSnippetsOfAForm removes, restores and sorts snippets without asking the server, and names files that it does not
// accept.
func TestSnippetsOfAForm(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.show("/")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	text := base64.StdEncoding.EncodeToString([]byte("text of a file\n"))
	tab.drop(map[string]string{"one.txt": text})
	tab.wait(`document.querySelector("#name-1").value === "one.txt"`)
	tab.drop(map[string]string{"two.txt": text})
	tab.wait(`document.querySelector("#name-2")?.value === "two.txt"`)
	names := func() string {
		t.Helper()
		return evaluate[string](tab,
			`Array.from(document.querySelectorAll("#snippets [name=name]"), field => field.value).join()`)
	}
	tab.do(tab.click("button[value=remove-1]"))
	if got := names(); got != "two.txt" {
		t.Errorf("got the snippets %s, want the second alone", got)
	}
	tab.do(tab.click("#snippets-status button"))
	if got := names(); got != "one.txt,two.txt" {
		t.Errorf("got the snippets %s, want the first again", got)
	}
	tab.do(tab.click(`.snippet:nth-child(2) [data-move=up]`))
	if got := names(); got != "two.txt,one.txt" {
		t.Errorf("got the snippets %s, want them in the other order", got)
	}
	large := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 2<<20+1)))
	tab.drop(map[string]string{"large.log": large,
		"picture.png": base64.StdEncoding.EncodeToString([]byte("\x89PNG\xff"))})
	tab.wait(`!document.querySelector("#files-problem").hidden`)
	problem := evaluate[string](tab, `document.querySelector("#files-problem").textContent`)
	if !strings.Contains(problem, "large.log is larger than 2 MiB") ||
		!strings.Contains(problem, "picture.png is not text") {
		t.Errorf("got %q, want both files named", problem)
	}
	tab.wantUsable("a form with two snippets")
	tab.press("button.main", ".pasty")
	if codes := tab.codes(); len(codes) != 2 || codes[0] != "text of a file\n" {
		t.Errorf("got %q, want two files", codes)
	}
}
