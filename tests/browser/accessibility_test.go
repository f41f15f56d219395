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

// screen is how somebody sees pages.
type screen struct {
	scheme        string // light or dark
	width, height int64
}

// screens have both schemes: a laptop, a large screen, a phone, and what phone is.
var screens = map[string]screen{
	"light": {"light", 1280, 800}, "dark-wide": {"dark", 1920, 1080},
	"phone": {"light", 390, 844}, "dark-narrow": {"dark", 320, 640},
}

// at shows pages as on a screen.
func (tab *tab) at(s screen) {
	tab.t.Helper()
	tab.prefer(s.scheme)
	tab.do(chromedp.EmulateViewport(s.width, s.height))
}

// wantUsableOn is wantUsable on two of the four screens, one of each scheme: axe-core takes long.
func (tab *tab) wantUsableOn(s screen, what string) {
	tab.t.Helper()
	if s == screens["light"] || s == screens["dark-narrow"] {
		tab.wantUsable(what)
	}
}

// TestAccessibility checks every page in both colour schemes, signed in and not, and some of them on a phone.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	own := createOwn(t, origin)
	rendered := asOwner(t, http.MethodPost, origin+"/paste", map[string]any{"pasties": []pasty{
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
			tab.press("button.main", ".problem a")
			tab.wantUsable("an edit that met another")
			evaluate[bool](tab, `document.querySelector("label").remove() || true`)
			if violations := tab.barriers(); len(violations) != 1 || !strings.HasPrefix(violations[0], "label at #title") {
				t.Errorf("got %q of a field without a label, want that it has none", violations)
			}
			tab.phone()
			for _, path := range []string{"/", "/" + own} { // the menu is another
				tab.show(path)
				tab.wantUsable(path + " on a phone")
			}
			for _, complaint := range tab.complain() {
				if !strings.HasPrefix(complaint, "status: 4") && !strings.Contains(complaint, "responded with a status of 4") {
					t.Errorf("got a complaint of the browser, want none but of statuses: %s", complaint)
				}
			}
		})
	}
}

// lookAround looks at pages with axe-core and takes their pictures, by paths and names, on each screen, as who has
// signed in with a token, or as a visitor if it is "".
func lookAround(t *testing.T, origin, token string, pages map[string]string) {
	t.Helper()
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			if token != "" {
				tab.signedIn(token)
			}
			tab.at(screen)
			for path, picture := range pages {
				tab.show(path)
				tab.wantUsableOn(screen, path)
				tab.wantFit()
				tab.wholePicture(picture)
			}
		})
	}
}

// TestFinding checks the pages with which people find pastes.
func TestFinding(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	origin := "http://" + program.Serve(t, cfg.URL, "GLUEPOT_RECENT=true").Address
	own := createOwn(t, origin)
	asOwner(t, http.MethodPost, origin+"/paste", map[string]any{"title": strings.Repeat("A long title ", 12),
		"isPublic": true,
		"tags":     []string{"go", "a tag of several words", strings.Repeat("long", 15)}, "pasties": []pasty{
			{Title: "main.go", Language: "Go", Code: "package main\n\nfunc main() {\n\tprintln(\"" + strings.Repeat("main",
				60) + "\")\n}\n"},
			{Title: strings.Repeat("name", 40) + ".py", Language: "Python", Code: "main = 1\n"},
		}})
	settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}
	if code, _, stderr := program.Run(t, settings, "user", "update", "epoxy", "--show-tags"); code != 0 {
		t.Fatal(stderr)
	}
	lookAround(t, origin, program.EpoxyToken, map[string]string{
		"/search": "search", "/search?q=main": "found", "/search?q=nowhere": "nothing", "/recent": "recent",
		"/~epoxy": "profile", "/~epoxy?tag=go": "tag", "/pastes?sort=title": "own", "/" + own + "/history": "history",
		"/" + own + "/history/original": "revision", "/starred": "starred",
	})
	lookAround(t, origin, program.MortarToken, map[string]string{
		"/pastes": "no-pastes", "/starred": "no-stars", "/~epoxy?title=nowhere": "no-matches",
	})
}

// TestProtectedPages checks the pages of encrypted, burning and anonymous pastes on common screens.
func TestProtectedPages(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	own := createOwn(t, origin)
	examples := vectors(t)
	burning := asOwner(t, http.MethodPost, origin+"/paste", map[string]any{"burn": true, "pasties": []pasty{{Code: "x"}}})
	store := func(v vector, burn bool) string {
		return "/" + asOwner(t, http.MethodPost, origin+"/encrypted",
			map[string]any{"version": v.Version, "cipher": v.Cipher, "salt": v.Salt, "burn": burn})
	}
	keyed, locked, sealed := store(examples[0], false)+"#"+examples[0].Key, store(examples[1], false),
		store(examples[0], true)+"#"+examples[0].Key
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			tab := open(t, origin)
			tab.at(screen)
			look := func(name string) {
				t.Helper()
				tab.wantFit()
				tab.wantUsableOn(screen, name)
				tab.wholePicture(name)
			}
			tab.show(keyed)
			tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
			look("encrypted")
			tab.show(locked)
			tab.do(chromedp.WaitVisible(chromedp.CSS("#password")))
			look("password")
			tab.fill("#password", "wrong\r")
			tab.wantSaid("The password is wrong")
			look("wrong-password")
			tab.show(sealed)
			look("encrypted-question")
			tab.show("/" + burning)
			look("question")
			tab.signedIn(program.EpoxyToken)
			tab.show("/" + own)
			look("own")
			tab.show("/" + own + "/anonymous")
			look("anonymous")
			tab.show("/")
			tab.do(tab.click("#burn"))
			tab.do(tab.click("#encrypt"), chromedp.WaitVisible(chromedp.CSS("#password")),
				tab.click("button.main"), chromedp.WaitVisible(chromedp.CSS("#encryption-problem")))
			look("form")
		})
	}
}
