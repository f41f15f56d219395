package browser

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// operations returns what the interface's document has, as "GET /data/numPastes".
func operations(t *testing.T) (lines []string) {
	t.Helper()
	_, document := httpapi.OpenAPI("")
	var described struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(document, &described); err != nil {
		t.Fatal(err)
	}
	for path, item := range described.Paths {
		for method := range item {
			switch method {
			case "get", "post", "patch", "put", "delete":
				lines = append(lines, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// TestDocs checks the documentation page below two base paths, and sends requests from it.
func TestDocs(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	for name, base := range map[string]string{"root": "", "base": "/api/v2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH="+base)
			tab := open(t, "http://"+server.Address)
			tab.prefer("light")
			tab.show(base + "/docs/")
			tab.do(chromedp.WaitVisible(chromedp.CSS(".opblock")))
			listed := evaluate[[]string](tab, `[...document.querySelectorAll(".opblock")].map(block =>
				block.querySelector(".opblock-summary-method").textContent + " " +
					block.querySelector("[data-path]").dataset.path)`)
			slices.Sort(listed)
			if want := operations(t); !slices.Equal(listed, want) {
				t.Errorf("got the operations %q, want %q", listed, want)
			}
			tab.wholePicture("light")

			answer := tryOut(tab, "#operations-languages-languageByName")
			if !strings.HasPrefix(answer, "200") || !strings.Contains(answer, `"name": "Rust"`) {
				t.Errorf("got %q, want 200 and the language of the example", answer)
			}
			tab.picture("answer-light")

			tab.prefer("dark")
			tab.do(
				tab.click(".btn.authorize"),
				chromedp.WaitVisible(chromedp.CSS("#auth-bearer-value")),
				chromedp.SendKeys(chromedp.CSS("#auth-bearer-value"), program.EpoxyToken),
			)
			tab.picture("authorize-dark")
			tab.do(
				tab.click(".modal-ux .auth-container:has(#auth-bearer-value) .authorize"),
				chromedp.WaitNotPresent(chromedp.CSS("#auth-bearer-value")),
				tab.click(".modal-ux .close-modal"),
			)
			answer = tryOut(tab, "#operations-users-self")
			if !strings.HasPrefix(answer, "200") || !strings.Contains(answer, `"username": "Epoxy"`) {
				t.Errorf("got %q, want 200 and the profile of the token's owner", answer)
			}
			tab.picture("answer-dark")
			tab.do(
				tab.click(".models-control"),
				chromedp.WaitVisible(chromedp.CSS(".models .json-schema-2020-12")),
				chromedp.ScrollIntoView(chromedp.CSS(".models .json-schema-2020-12")),
			)
			tab.picture("schemas-dark")
			if stored := evaluate[int](tab, "localStorage.length + sessionStorage.length + document.cookie.length"); stored > 0 {
				t.Errorf("got %d things kept by the page, want none: the token is among them", stored)
			}
		})
	}
}

// tryOut opens an operation, has it asked with the examples of the document, and returns what the page shows of the
// answer.
func tryOut(tab *tab, operation string) (answer string) {
	tab.t.Helper()
	tab.do(
		tab.click(operation+" .opblock-summary-control"),
		tab.click(operation+" .try-out__btn"),
		tab.click(operation+" .execute"),
		chromedp.WaitVisible(chromedp.CSS(operation+" .live-responses-table .response")),
		chromedp.ScrollIntoView(chromedp.CSS(operation)),
	)
	return read(tab, chromedp.Text(chromedp.CSS(operation+" .live-responses-table .response")))
}

// TestFront checks that "/" shows the documentation if pages are off.
func TestFront(t *testing.T) {
	t.Parallel()
	tab := open(t, "http://"+program.Serve(t, database.SQLite(t).URL, "GLUEPOT_PAGES=false").Address)
	tab.prefer("light")
	tab.show("/")
	tab.picture("light")
	tab.prefer("dark")
	tab.picture("dark")
	tab.phone()
	tab.wantFit()
	tab.picture("narrow")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".opblock")))
	tab.wantFit()
	tab.picture("docs-narrow")
}

// seriousBarriers is barriers, only of those that keep people from using the page.
const seriousBarriers = `axe.run(document, {resultTypes: ["violations"]}).then(found =>
	found.violations.filter(violation =>
	["serious", "critical"].includes(violation.impact)).map(violation => violation.id + " at " +
	violation.nodes.map(node => node.target.join(" ")).join(", ")))`

// TestDocsUsable checks the documentation page for accessibility, and its link back to the pastes.
func TestDocsUsable(t *testing.T) {
	t.Parallel()
	origin := "http://" + program.Serve(t, database.SQLite(t).URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2").Address
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.prefer(scheme)
			tab.show("/api/v2/docs/")
			tab.do(chromedp.WaitVisible(chromedp.CSS("#servers[aria-label]")))
			for _, opened := range []string{"#operations-languages-languageByName", ".opblock-post"} {
				tab.do(tab.click(opened+" .opblock-summary-control"),
					chromedp.WaitVisible(chromedp.CSS(opened+" .microlight[tabindex]")))
			}
			tab.barriers()
			violations := read(tab, chromedp.Evaluate[[]string](seriousBarriers, chromedp.EvalAwaitPromise))
			if len(violations) > 0 {
				t.Errorf("got the barriers %q, want none", violations)
			}
			if hash := evaluate[string](tab, "location.hash"); !strings.HasPrefix(hash, "#/pastes/") {
				t.Errorf("got the address %q, want that of the operation that was opened", hash)
			}
			tab.picture("opened")
			tab.press(".home a", ".brand")
			if at := tab.path(); at != "/" {
				t.Errorf("got to %s, want the pastes", at)
			}
		})
	}
}
