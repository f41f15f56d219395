package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gluepot/gluepot/tests/program"
)

// keepCopies has the browser's clipboard replaced by what keeps the text, which comes at once or, promised, later.
func (tab *tab) keepCopies() {
	tab.t.Helper()
	evaluate[bool](tab, `navigator.clipboard.writeText = async text => { window.kept = text; },
		navigator.clipboard.write = async ([item]) => {
			const text = await item.getType("text/plain");
			window.kept = new TextDecoder("utf-8", {ignoreBOM: true}).decode(await text.arrayBuffer());
		}, true`)
}

// tabTo presses the tab key, or the shift key with it, until an element has the focus.
func (tab *tab) tabTo(selector string, modifiers ...chromedp.Modifier) {
	tab.t.Helper()
	for range 80 {
		if evaluate[bool](tab, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		tab.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(modifiers...)))
	}
	tab.t.Fatalf("got no focus on %s, want the tab key to get there", selector)
}

// TestKeyboardAlone creates a paste, copies its link, edits and deletes it without a mouse.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.signedIn(program.EpoxyToken)
	tab.show("/")
	const editing = ".snippet:first-child .cm-content"
	save := func() {
		t.Helper()
		tab.do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)),
			chromedp.WaitVisible(chromedp.CSS(".pasty")))
	}
	tab.do(chromedp.WaitVisible(chromedp.CSS(editing+":focus")), chromedp.KeyEvent("first"))
	save()
	link := tab.origin + tab.path()
	if selected := evaluate[string](tab, "getSelection().toString()"); selected != link {
		t.Errorf("got %q selected, want the link %s", selected, link)
	}
	tab.keepCopies()
	tab.tabTo("[data-copy=link]")
	tab.do(chromedp.KeyEvent("\r"))
	if copied := evaluate[string](tab, "window.kept"); copied != link {
		t.Errorf("got %q copied, want the link %s", copied, link)
	}
	tab.picture("copied")
	tab.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".share summary")))
	if evaluate[bool](tab, `!!document.querySelector(".created")`) {
		t.Error("got the link handed over again after a reload, want that once")
	}

	tab.tabTo(`a[href$="/edit"]`)
	tab.do(chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS(editing)))
	tab.tabTo(editing)
	tab.do(chromedp.KeyEvent("second "))
	save()
	if codes := tab.codes(); len(codes) != 1 || codes[0] != "second first" {
		t.Errorf("got the code %q, want what was typed", codes)
	}
	tab.tabTo(`a[href$="/delete"]`)
	tab.do(chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS("form button.danger")))
	tab.tabTo("form button.danger")
	tab.do(chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS(".pastes")))
	if at := tab.path(); at != "/pastes" {
		t.Errorf("got to %s, want the list", at)
	}
}

// TestCopyTokens copies a token that is shown once, and reloads the page: nothing is sent again.
func TestCopyTokens(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.signedIn(program.EpoxyToken)
	tab.show("/account/tokens")
	tab.fill("#name", "laptop")
	tab.press("button.main", "#made")
	tab.keepCopies()
	tab.do(tab.click("[data-copy=made]"))
	if copied := evaluate[string](tab, "window.kept"); copied != evaluate[string](tab,
		`document.querySelector("#made").value`) {
		t.Errorf("got %q copied, want the token", copied)
	}
	tab.picture("made")
	tab.do(chromedp.Reload(), chromedp.WaitNotPresent(chromedp.CSS("#made")))
	if tokens := evaluate[int](tab,
		`document.querySelectorAll("button[aria-label='Revoke laptop']").length`); tokens != 1 {
		t.Errorf("got %d tokens after a reload, want one", tokens)
	}
}

// TestScanning checks the QR code that a page shows of its paste.
func TestScanning(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.signedIn(program.EpoxyToken)
	tab.show("/")
	tab.choose("#visibility", "private")
	tab.fill("#code-1", "private")
	tab.press("button.main", ".created")
	tab.do(tab.click(".scan summary"), chromedp.WaitVisible(chromedp.CSS(".qr")))
	read(tab, chromedp.Poll[bool](`document.querySelector(".qr").naturalWidth > 0`))
	tab.picture("qr")
}
