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

// operations returns the operations of the OpenAPI document, as "GET /data/numPastes".
func operations(t *testing.T) (lines []string) {
	t.Helper()
	_, document := httpapi.OpenAPI("")
	var openAPI struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(document, &openAPI); err != nil {
		t.Fatal(err)
	}
	for path, item := range openAPI.Paths {
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
			tab.setColourScheme("light")
			tab.show(base + "/docs/")
			tab.do(chromedp.WaitVisible(chromedp.CSS(".opblock")))
			blocks := evaluate[[]string](tab, `[...document.querySelectorAll(".opblock")].map(block =>
				block.querySelector(".opblock-summary-method").textContent + " " +
					block.querySelector("[data-path]").dataset.path)`)
			slices.Sort(blocks)
			if want := operations(t); !slices.Equal(blocks, want) {
				t.Errorf("got the operations %q, want %q", blocks, want)
			}
			tab.fullScreenshot("light")

			answer := tryOut(tab, "#operations-languages-languageByName")
			if !strings.HasPrefix(answer, "200") || !strings.Contains(answer, `"name": "Rust"`) {
				t.Errorf("got the answer %q, want 200 and Rust, the example of the document", answer)
			}
			tab.screenshot("answer-light")

			tab.setColourScheme("dark")
			tab.do(
				tab.click(".btn.authorize"),
				chromedp.WaitVisible(chromedp.CSS("#auth-bearer-value")),
				chromedp.SendKeys(chromedp.CSS("#auth-bearer-value"), program.EpoxyToken),
			)
			tab.screenshot("authorize-dark")
			tab.do(
				tab.click(".modal-ux .auth-container:has(#auth-bearer-value) .authorize"),
				chromedp.WaitNotPresent(chromedp.CSS("#auth-bearer-value")),
				tab.click(".modal-ux .close-modal"),
			)
			answer = tryOut(tab, "#operations-users-self")
			if !strings.HasPrefix(answer, "200") || !strings.Contains(answer, `"username": "Epoxy"`) {
				t.Errorf("got the answer %q, want 200 and the profile of Epoxy, the token's owner", answer)
			}
			tab.screenshot("answer-dark")
			tab.do(
				tab.click(".models-control"),
				chromedp.WaitVisible(chromedp.CSS(".models .json-schema-2020-12")),
				chromedp.ScrollIntoView(chromedp.CSS(".models .json-schema-2020-12")),
			)
			tab.screenshot("schemas-dark")
			if items := evaluate[int](tab, "localStorage.length + sessionStorage.length + document.cookie.length"); items > 0 {
				t.Errorf("got %d items in storage and bytes of cookies, want 0: the page must not store the token", items)
			}
		})
	}
}

// tryOut opens an operation, executes it with the examples of the document, and returns the answer that the page shows.
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

// TestDocsAsFrontPage checks that "/" shows the documentation if pages are off.
func TestDocsAsFrontPage(t *testing.T) {
	t.Parallel()
	tab := open(t, "http://"+program.Serve(t, database.SQLite(t).URL, "GLUEPOT_PAGES=false").Address)
	tab.setColourScheme("light")
	tab.show("/")
	tab.screenshot("light")
	tab.setColourScheme("dark")
	tab.screenshot("dark")
	tab.useNarrowWindow()
	tab.wantFit()
	tab.screenshot("narrow")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".opblock")))
	tab.wantFit()
	tab.screenshot("docs-narrow")
}

// runAxeForSerious is like runAxe, but returns only serious and critical violations: the page is Swagger UI's.
const runAxeForSerious = `axe.run(document, {resultTypes: ["violations"]}).then(results =>
	results.violations.filter(violation =>
	["serious", "critical"].includes(violation.impact)).map(violation => violation.id + " at " +
	violation.nodes.map(node => node.target.join(" ")).join(", ")))`

// TestDocsAccessibility checks the documentation page for accessibility, and its link back to the front page.
func TestDocsAccessibility(t *testing.T) {
	t.Parallel()
	origin := "http://" + program.Serve(t, database.SQLite(t).URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2").Address
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.setColourScheme(scheme)
			tab.show("/api/v2/docs/")
			tab.do(chromedp.WaitVisible(chromedp.CSS("#servers[aria-label]")))
			for _, operation := range []string{"#operations-languages-languageByName", ".opblock-post"} {
				tab.do(tab.click(operation+" .opblock-summary-control"),
					chromedp.WaitVisible(chromedp.CSS(operation+" .microlight[tabindex]")))
			}
			tab.loadAxe()
			violations := read(tab, chromedp.Evaluate[[]string](runAxeForSerious, chromedp.EvalAwaitPromise))
			if len(violations) > 0 {
				t.Errorf("got the serious violations %q, want none", violations)
			}
			if hash := evaluate[string](tab, "location.hash"); !strings.HasPrefix(hash, "#/pastes/") {
				t.Errorf("got the fragment %q, want #/pastes/ and the name of the last operation that was opened", hash)
			}
			tab.screenshot("opened")
			tab.press(".home a", ".brand")
			if path := tab.path(); path != "/" {
				t.Errorf("got the page %s after the link back, want /", path)
			}
		})
	}
}
