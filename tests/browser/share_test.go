package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gluepot/gluepot/tests/program"
)

// replaceClipboard replaces the browser's clipboard by one that stores the text in window.copiedText. The page writes a
// text to it, or a promise of one.
func (tab *tab) replaceClipboard() {
	tab.t.Helper()
	evaluate[bool](tab, `navigator.clipboard.writeText = async text => { window.copiedText = text; },
		navigator.clipboard.write = async ([item]) => {
			const text = await item.getType("text/plain");
			window.copiedText = new TextDecoder("utf-8", {ignoreBOM: true}).decode(await text.arrayBuffer());
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
	tab.t.Fatalf("got no focus on %s after pressing the tab key 80 times, want it", selector)
}

// TestKeyboardAlone creates a paste, copies its link, and edits and deletes the paste without a mouse.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.signIn(program.EpoxyToken)
	tab.show("/")
	const editor = ".snippet:first-child .cm-content"
	save := func() {
		t.Helper()
		tab.do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)),
			chromedp.WaitVisible(chromedp.CSS(".pasty")))
	}
	tab.do(chromedp.WaitVisible(chromedp.CSS(editor+":focus")), chromedp.KeyEvent("first"))
	save()
	link := tab.origin + tab.path()
	if selection := evaluate[string](tab, "getSelection().toString()"); selection != link {
		t.Errorf("got the selected text %q after saving, want the link %s", selection, link)
	}
	tab.replaceClipboard()
	tab.tabTo("[data-copy=link]")
	tab.do(chromedp.KeyEvent("\r"))
	if text := evaluate[string](tab, "window.copiedText"); text != link {
		t.Errorf("got the copied text %q, want the link %s", text, link)
	}
	tab.screenshot("copied")
	tab.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".share summary")))
	if evaluate[bool](tab, `!!document.querySelector(".created")`) {
		t.Error("got the box of a new paste again after a reload, want it once")
	}

	tab.tabTo(`a[href$="/edit"]`)
	tab.do(chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS(editor)))
	tab.tabTo(editor)
	tab.do(chromedp.KeyEvent("second "))
	save()
	if codes := tab.codes(); len(codes) != 1 || codes[0] != "second first" {
		t.Errorf(`got the codes %q after the edit, want one, "second first"`, codes)
	}
	tab.tabTo(`a[href$="/delete"]`)
	tab.do(chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS("form button.danger")))
	tab.tabTo("form button.danger")
	tab.do(chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS(".pastes")))
	if path := tab.path(); path != "/pastes" {
		t.Errorf("got the page %s after deleting the paste, want /pastes", path)
	}
}

// TestCopyNewToken copies a new token, and checks that a reload of the page neither shows it again nor creates another.
func TestCopyNewToken(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.signIn(program.EpoxyToken)
	tab.show("/account/tokens")
	tab.fill("#name", "laptop")
	tab.press("button.main", "#made")
	tab.replaceClipboard()
	tab.do(tab.click("[data-copy=made]"))
	text := evaluate[string](tab, "window.copiedText")
	if token := evaluate[string](tab, `document.querySelector("#made").value`); text != token {
		t.Errorf("got the copied text %q, want the token %q", text, token)
	}
	tab.screenshot("made")
	tab.do(chromedp.Reload(), chromedp.WaitNotPresent(chromedp.CSS("#made")))
	if tokens := evaluate[int](tab,
		`document.querySelectorAll("button[aria-label='Revoke laptop']").length`); tokens != 1 {
		t.Errorf("got %d tokens after a reload, want 1", tokens)
	}
}

// TestQRCode checks that the page of a private paste shows the QR code of its link.
func TestQRCode(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	tab.signIn(program.EpoxyToken)
	tab.show("/")
	tab.choose("#visibility", "private")
	tab.fill("#code-1", "private")
	tab.press("button.main", ".created")
	tab.do(tab.click(".scan summary"), chromedp.WaitVisible(chromedp.CSS(".qr")))
	read(tab, chromedp.Poll[bool](`document.querySelector(".qr").naturalWidth > 0`))
	tab.screenshot("qr")
}
