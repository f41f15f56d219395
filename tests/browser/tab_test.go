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

// tab is a page of the browser, with cookies and storage of its own.
type tab struct {
	*complaints

	t      *testing.T
	ctx    context.Context
	origin string

	scriptless bool // pages run no script
}

// The size of a tab, in pixels.
const (
	tabWidth  = 1280
	tabHeight = 900
)

// open opens a tab for the pages of an origin, such as "http://127.0.0.1:8080". What the browser complains about until
// the end of the test fails it.
func open(t *testing.T, origin string) *tab {
	t.Helper()
	tab := newTab(t, origin)
	t.Cleanup(func() {
		for _, complaint := range tab.complain() {
			t.Errorf("got a complaint of the browser, want none: %s", complaint)
		}
	})
	return tab
}

// newTab is open, and leaves the complaints to the caller.
func newTab(t *testing.T, origin string) *tab {
	t.Helper()
	browser, err := started()
	if err != nil {
		t.Fatal(err)
	}
	tab := &tab{complaints: &complaints{origin: origin}, t: t, origin: origin}
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(tab.hear))
	t.Cleanup(closeTab)
	tab.ctx = ctx
	// the first call, whose context the tab lives with
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(tabWidth, tabHeight)); err != nil {
		t.Fatal(err)
	}
	dialogs := chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() { // a form asks before it is left
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

// complain returns what the browser complained about so far.
func (tab *tab) complain() []string {
	tab.t.Helper()
	tab.do(chromedp.Evaluate[chromedp.Void]("0")) // its answer comes after the events before it
	return tab.unexpected()
}

// patience is how long an action may take: of a page that is drawn without a graphics processor, while others are.
const patience = 4 * program.Patience

// do runs actions, none of which may fail or take longer than patience.
func (tab *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	for i, action := range actions {
		ctx, cancel := context.WithTimeout(tab.ctx, patience)
		err := chromedp.Do(ctx, action)
		cancel()
		if err != nil {
			tab.t.Fatalf("action %d: got %v, want it done; the browser complained about %q", i+1, err, tab.unexpected())
		}
	}
}

// read runs an action and returns its value.
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

// command calls what has no action.
func command[P, R any](tab *tab, c cdp.Command[P, R], parameters P) (result R) {
	tab.t.Helper()
	return read(tab, func(ctx context.Context, _ *chromedp.Target) (R, error) { return chromedp.Call(ctx, c, parameters) })
}

// show goes to a path of the origin.
func (tab *tab) show(path string) {
	tab.t.Helper()
	tab.do(chromedp.Navigate(tab.origin + path))
}

// prefer makes the reader's setting "light" or "dark".
func (tab *tab) prefer(scheme string) {
	tab.t.Helper()
	command(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// picture keeps what the tab shows in the folder of the flag -screenshots, under the names of the test and of the
// picture.
func (tab *tab) picture(name string) {
	tab.t.Helper()
	tab.keep(name, chromedp.CaptureScreenshot())
}

// wholePicture is picture of all of the page.
func (tab *tab) wholePicture(name string) {
	tab.t.Helper()
	tab.keep(name, chromedp.FullScreenshot(100))
}

func (tab *tab) keep(name string, capture chromedp.Action[[]byte]) {
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
