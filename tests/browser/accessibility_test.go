package browser

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// runAxe runs axe-core on the page, and returns the violations.
const runAxe = `axe.run(document, {resultTypes: ["violations"]}).then(results => results.violations.flatMap(violation =>
	violation.nodes.map(node => violation.id + " at " + node.target.join(" ") + ": " + node.failureSummary)))`

// wantAccessible fails the test for each violation that axe-core reports. The messages name the page.
func (tab *tab) wantAccessible(page string) {
	tab.t.Helper()
	for _, violation := range tab.violations() {
		tab.t.Errorf("%s: got the violation %s, want none", page, violation)
	}
}

// violations returns the violations that axe-core reports.
func (tab *tab) violations() []string {
	tab.t.Helper()
	tab.loadAxe()
	return read(tab, chromedp.Evaluate[[]string](runAxe, chromedp.EvalAwaitPromise))
}

// loadAxe loads axe-core into the page.
func (tab *tab) loadAxe() {
	tab.t.Helper()
	if *axe == "" {
		tab.t.Fatal(`got no flag -axe, want the path of axe.min.js, as "make test-browser" sets it`)
	}
	script, err := os.ReadFile(*axe)
	if err != nil {
		tab.t.Fatal(err)
	}
	tab.do(chromedp.Evaluate[chromedp.Void](string(script) + "; void 0"))
}

// screen is a colour scheme and the size of a window.
type screen struct {
	scheme        string // light or dark
	width, height int64
}

// screens are a laptop, a large monitor, a phone, and a phone as narrow as useNarrowWindow makes the tab.
var screens = map[string]screen{
	"light": {"light", 1280, 800}, "dark-wide": {"dark", 1920, 1080},
	"phone": {"light", 390, 844}, "dark-narrow": {"dark", 320, 640},
}

// useScreen sets the tab's colour scheme and the size of its window.
func (tab *tab) useScreen(s screen) {
	tab.t.Helper()
	tab.setColourScheme(s.scheme)
	tab.do(chromedp.EmulateViewport(s.width, s.height))
}

// wantAccessibleOn runs wantAccessible only on two of the four screens, one of each scheme, because axe-core is slow.
func (tab *tab) wantAccessibleOn(s screen, page string) {
	tab.t.Helper()
	if s == screens["light"] || s == screens["dark-narrow"] {
		tab.wantAccessible(page)
	}
}

// TestAccessibility checks pages in both colour schemes, signed in and signed out, and some in a narrow window.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	edited := createEditedPaste(t, origin)
	rendered := sendAsOwner(t, http.MethodPost, origin+"/paste", map[string]any{"pasties": []pasty{
		{Title: "a.md", Language: "Markdown",
			Code: "---\ntitle: A\n---\n\n# Head\n\n- [x] done\n\n> `quoted`\n\n| a |\n|---|\n" +
				"| [b](https://example.com) |\n\n> [!WARNING]\n> c[^1]\n\n[^1]: d\n\n```go\nvar x = 1 // " +
				strings.Repeat("long ", 99) + "\n```\n\n" +
				"<details><summary>e</summary>\n\nPress <kbd>f</kbd>, <sub>g</sub>.\n\n</details>\n"},
		{Title: "b.csv", Language: "CSV", Code: "name;\nglue;1,5\n"},
	}})
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			tab := newTab(t, origin) // the browser complains about the statuses 4xx
			tab.setColourScheme(scheme)
			for _, path := range []string{
				"/", "/sign-in", "/" + edited, "/" + edited + "/history", "/~epoxy", "/unknown0",
				"/" + rendered, "/" + rendered + "/embed", "/" + edited + "/fork",
			} {
				tab.show(path)
				tab.wantAccessible(path)
			}
			tab.show("/")
			tab.press("button.main", "#code-1-problem")
			tab.wantAccessible("an invalid form")

			tab.signIn(program.EpoxyToken)
			for _, path := range []string{"/", "/pastes", "/starred", "/" + edited, "/" + edited + "/edit",
				"/" + edited + "/delete"} {
				tab.show(path)
				tab.wantAccessible(path + ", signed in")
			}
			tab.show("/" + edited + "/edit")
			tab.fill("#title", "more ")
			tab.editElsewhere("/"+edited, "Edited elsewhere in the "+scheme)
			tab.press("button.main", ".problem a")
			tab.wantAccessible("an edit conflict")
			evaluate[bool](tab, `document.querySelector("label").remove() || true`)
			if violations := tab.violations(); len(violations) != 1 || !strings.HasPrefix(violations[0], "label at #title") {
				t.Errorf("got the violations %q, want one: #title has no label", violations)
			}
			tab.useNarrowWindow()
			for _, path := range []string{"/", "/" + edited} { // which have another menu
				tab.show(path)
				tab.wantAccessible(path + " in a narrow window")
			}
			for _, complaint := range tab.unexpectedComplaints() {
				if !strings.HasPrefix(complaint, "status: 4") && !strings.Contains(complaint, "responded with a status of 4") {
					t.Errorf("got the browser's complaint %s, want none except about statuses 4xx", complaint)
				}
			}
		})
	}
}

// checkPages checks pages on each screen for accessibility and width, and takes screenshots. The map is from paths to
// names of screenshots. It signs in with the token, unless that is "".
func checkPages(t *testing.T, origin, token string, pages map[string]string) {
	t.Helper()
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			if token != "" {
				tab.signIn(token)
			}
			tab.useScreen(screen)
			for path, screenshot := range pages {
				tab.show(path)
				tab.wantAccessibleOn(screen, path)
				tab.wantFit()
				tab.fullScreenshot(screenshot)
			}
		})
	}
}

// TestListPages checks the pages that list pastes and revisions.
func TestListPages(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	origin := "http://" + program.Serve(t, cfg.URL, "GLUEPOT_RECENT=true").Address
	edited := createEditedPaste(t, origin)
	sendAsOwner(t, http.MethodPost, origin+"/paste", map[string]any{
		"title":    strings.Repeat("A long title ", 12),
		"isPublic": true,
		"tags":     []string{"go", "a tag of several words", strings.Repeat("long", 15)},
		"pasties": []pasty{
			{Title: "main.go", Language: "Go",
				Code: "package main\n\nfunc main() {\n\tprintln(\"" + strings.Repeat("main", 60) + "\")\n}\n"},
			{Title: strings.Repeat("name", 40) + ".py", Language: "Python", Code: "main = 1\n"},
		}})
	settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}
	if code, _, stderr := program.Run(t, settings, "user", "update", "epoxy", "--show-tags"); code != 0 {
		t.Fatalf("user update: got exit code %d, %s, want 0", code, stderr)
	}
	checkPages(t, origin, program.EpoxyToken, map[string]string{
		"/search": "search", "/search?q=main": "found", "/search?q=nowhere": "nothing", "/recent": "recent",
		"/~epoxy": "profile", "/~epoxy?tag=go": "tag", "/pastes?sort=title": "own", "/starred": "starred",
		"/" + edited + "/history": "history", "/" + edited + "/history/original": "revision",
	})
	checkPages(t, origin, program.MortarToken, map[string]string{
		"/pastes": "no-pastes", "/starred": "no-stars", "/~epoxy?title=nowhere": "no-matches",
	})
}

// TestProtectedPages checks the pages of encrypted, burning and anonymous pastes on each screen.
func TestProtectedPages(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	edited := createEditedPaste(t, origin)
	examples := vectors(t)
	burning := sendAsOwner(t, http.MethodPost, origin+"/paste",
		map[string]any{"burn": true, "pasties": []pasty{{Code: "x"}}})
	store := func(v vector, burn bool) string {
		return "/" + sendAsOwner(t, http.MethodPost, origin+"/encrypted",
			map[string]any{"version": v.Version, "cipher": v.Cipher, "salt": v.Salt, "burn": burn})
	}
	withKey := store(examples[0], false) + "#" + examples[0].Key
	withPassword := store(examples[1], false)
	burningWithKey := store(examples[0], true) + "#" + examples[0].Key
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			tab := open(t, origin)
			tab.useScreen(screen)
			checkPage := func(name string) {
				t.Helper()
				tab.wantFit()
				tab.wantAccessibleOn(screen, name)
				tab.fullScreenshot(name)
			}
			tab.show(withKey)
			tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
			checkPage("encrypted")
			tab.show(withPassword)
			tab.do(chromedp.WaitVisible(chromedp.CSS("#password")))
			checkPage("password")
			tab.fill("#password", "wrong\r")
			tab.wantMessage("The password is wrong")
			checkPage("wrong-password")
			tab.show(burningWithKey)
			checkPage("encrypted-question")
			tab.show("/" + burning)
			checkPage("question")
			tab.signIn(program.EpoxyToken)
			tab.show("/" + edited)
			checkPage("own")
			tab.show("/" + edited + "/anonymous")
			checkPage("anonymous")
			tab.show("/")
			tab.do(tab.click("#burn"))
			tab.do(tab.click("#encrypt"), chromedp.WaitVisible(chromedp.CSS("#password")),
				tab.click("button.main"), chromedp.WaitVisible(chromedp.CSS("#encryption-problem")))
			checkPage("form")
		})
	}
}
