package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/program"
)

// tab is a tab of the browser with its own cookies and storage.
type tab struct {
	*complaints

	t      *testing.T
	ctx    context.Context
	origin string

	scriptDisabled bool
}

// The size of a tab, in pixels.
const (
	tabWidth  = 1280
	tabHeight = 900
)

// open opens a tab for the pages of an origin, such as "http://127.0.0.1:8080". Unexpected complaints of the browser
// fail the test when it ends.
func open(t *testing.T, origin string) *tab {
	t.Helper()
	tab := newTab(t, origin)
	t.Cleanup(func() {
		for _, complaint := range tab.unexpectedComplaints() {
			t.Errorf("got the browser's complaint %s, want none", complaint)
		}
	})
	return tab
}

// newTab opens a tab as open does, but complaints of the browser do not fail the test.
func newTab(t *testing.T, origin string) *tab {
	t.Helper()
	browser, err := startBrowser()
	if err != nil {
		t.Fatal(err)
	}
	tab := &tab{complaints: &complaints{origin: origin}, t: t, origin: origin}
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(tab.handle))
	t.Cleanup(closeTab)
	tab.ctx = ctx
	// The first call opens the tab, which lives as long as the context of that call.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(tabWidth, tabHeight)); err != nil {
		t.Fatal(err)
	}
	dialogs := chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() { // accepts the question whether to leave an edited form
		for _, err := range dialogs {
			if err != nil {
				return
			}
			if _, err := chromedp.Call(ctx, page.HandleJavaScriptDialog,
				page.HandleJavaScriptDialogParams{Accept: true}); err != nil {
				return // the tab is closed
			}
		}
	}()
	command(tab, audits.Enable, cdp.Empty{})
	return tab
}

// unexpectedComplaints returns the complaints of the browser so far, except those that expect removed.
func (tab *tab) unexpectedComplaints() []string {
	tab.t.Helper()
	tab.do(chromedp.Evaluate[chromedp.Void]("0")) // whose answer comes after all events so far
	return tab.unexpected()
}

// patience is how long an action may take. Pages are drawn without a GPU, and several at the same time.
const patience = 4 * program.Patience

// do runs actions, and fails the test if one fails or takes longer than patience.
func (tab *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	for i, action := range actions {
		ctx, cancel := context.WithTimeout(tab.ctx, patience)
		err := chromedp.Do(ctx, action)
		cancel()
		if err != nil {
			tab.t.Fatalf("action %d: got error %v, want none; the browser's complaints: %q", i+1, err, tab.unexpected())
		}
	}
}

// read runs an action as do does, and returns its value.
func read[T any](tab *tab, action chromedp.Action[T]) (value T) {
	tab.t.Helper()
	tab.do(func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		value, err = action(ctx, target)
		return none, err
	})
	return value
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](tab *tab, expression string) T {
	tab.t.Helper()
	return read(tab, chromedp.Evaluate[T](expression))
}

// command runs a command of the DevTools protocol for which chromedp has no action.
func command[P, R any](tab *tab, c cdp.Command[P, R], parameters P) (result R) {
	tab.t.Helper()
	return read(tab, func(ctx context.Context, _ *chromedp.Target) (R, error) { return chromedp.Call(ctx, c, parameters) })
}

// show goes to a path of the origin.
func (tab *tab) show(path string) {
	tab.t.Helper()
	tab.do(chromedp.Navigate(tab.origin + path))
}

// setColourScheme sets the colour scheme that the system prefers, "light" or "dark".
func (tab *tab) setColourScheme(scheme string) {
	tab.t.Helper()
	command(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// screenshot saves a screenshot of the window in the folder of the flag -screenshots, if that is set. The name of the
// file is made of the names of the test and of the screenshot.
func (tab *tab) screenshot(name string) {
	tab.t.Helper()
	tab.saveScreenshot(name, chromedp.CaptureScreenshot())
}

// fullScreenshot saves a screenshot of the whole page.
func (tab *tab) fullScreenshot(name string) {
	tab.t.Helper()
	tab.saveScreenshot(name, chromedp.FullScreenshot(100))
}

func (tab *tab) saveScreenshot(name string, capture chromedp.Action[[]byte]) {
	tab.t.Helper()
	if *screenshots == "" {
		return
	}
	png := read(tab, capture)
	path := filepath.Join(*screenshots, strings.ReplaceAll(tab.t.Name(), "/", "-")+"-"+name+".png")
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		tab.t.Fatal(err)
	}
	if err := os.WriteFile(path, png, 0o600); err != nil {
		tab.t.Fatal(err)
	}
}
