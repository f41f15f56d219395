package browser

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/program"
)

// barriers has axe-core look at the page for what keeps people from using it, and returns what it finds.
const barriers = `axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations.flatMap(violation =>
	violation.nodes.map(node => violation.id + " at " + node.target.join(" ") + ": " + node.failureSummary)))`

// wantUsable fails the test when axe-core finds fault with the page.
func (tab *tab) wantUsable(what string) {
	tab.t.Helper()
	for _, barrier := range tab.barriers() {
		tab.t.Errorf("%s: got %s, want nobody kept from it", what, barrier)
	}
}

// barriers returns what axe-core finds.
func (tab *tab) barriers() []string {
	tab.t.Helper()
	if *axe == "" {
		tab.t.Fatal(`got no flag -axe, want that of "make test-browser": this test needs axe-core`)
	}
	script, err := os.ReadFile(*axe)
	if err != nil {
		tab.t.Fatal(err)
	}
	tab.do(chromedp.Evaluate[chromedp.Void](string(script) + "; void 0"))
	return read(tab, chromedp.Evaluate[[]string](barriers, chromedp.EvalAwaitPromise))
}

// TestAccessibility looks at every page in both colour schemes, as somebody who has not signed in and as who has.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	own := createOwn(t, origin)
	rendered := asOwner(t, http.MethodPost, origin+"/paste", map[string]any{"pasties": []pasty{
		{Title: "a.md", Language: "Markdown", Code: "# Head\n\n- [x] done\n\n> `quoted`\n\n| a |\n|---|\n| [b](https://example.com) |\n"},
		{Title: "b.csv", Language: "CSV", Code: "name,\nglue,1\n"},
	}})
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			tab := newTab(t, origin) // the browser complains about statuses
			tab.prefer(scheme)
			for _, path := range []string{
				"/", "/sign-in", "/" + own, "/" + own + "/history", "/~epoxy", "/unknown0",
				"/" + rendered, "/" + rendered + "/embed", "/" + own + "/fork",
			} {
				tab.show(path)
				tab.wantUsable(path)
			}
			tab.show("/")
			tab.press("button.main", "#code-1-problem")
			tab.wantUsable("a form that is wrong")

			tab.signedIn(program.EpoxyToken)
			for _, path := range []string{"/", "/pastes", "/starred", "/" + own, "/" + own + "/edit", "/" + own + "/delete"} {
				tab.show(path)
				tab.wantUsable(path + " of who has signed in")
			}
			tab.show("/" + own + "/edit")
			tab.fill("#title", "more ")
			tab.another("/"+own, "Edited elsewhere in the "+scheme)
			tab.press("button.main", ".now")
			tab.wantUsable("an edit that met another")
			evaluate[bool](tab, `document.querySelector("label").remove() || true`)
			if found := tab.barriers(); len(found) != 1 || !strings.HasPrefix(found[0], "label at #title") {
				t.Errorf("got %q of a field without a label, want that it has none", found)
			}
			for _, complaint := range tab.complain() {
				if !strings.HasPrefix(complaint, "status: 4") && !strings.Contains(complaint, "responded with a status of 4") {
					t.Errorf("got a complaint of the browser, want none but of statuses: %s", complaint)
				}
			}
		})
	}
}
