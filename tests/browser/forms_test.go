package browser

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// serveUsers starts a server with the users and tokens of program.Fixture, and returns its origin.
func serveUsers(t *testing.T) (origin string) {
	t.Helper()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	return "http://" + program.Serve(t, cfg.URL).Address
}

// signIn signs in with a token.
func (tab *tab) signIn(token string) {
	tab.t.Helper()
	tab.show("/sign-in")
	tab.do(chromedp.SendKeys(chromedp.CSS("#token"), token+"\r"), chromedp.WaitReady(chromedp.CSS(".top form button")))
}

// press clicks an element, such as a button, and waits until another one is visible. Both are CSS selectors.
func (tab *tab) press(button, result string) {
	tab.t.Helper()
	tab.do(tab.click(button), chromedp.WaitVisible(chromedp.CSS(result)))
}

// click waits until an element stops moving, and clicks it. An element that moves between the press and the release of
// the mouse button would not get the click.
func (tab *tab) click(selector string) chromedp.Action[chromedp.Void] {
	const waitForRest = `new Promise(resolve => {
		let last = "";
		const check = () => {
			const element = document.querySelector(%q);
			element?.scrollIntoView({block: "nearest", behavior: "instant"});
			const place = JSON.stringify(element?.getBoundingClientRect());
			if (element && place === last) resolve(true);
			else { last = place; setTimeout(() => requestAnimationFrame(check)); }
		};
		check();
	})`
	if tab.scriptDisabled { // nothing moves
		return chromedp.Click(chromedp.CSS(selector))
	}
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		if _, err = chromedp.WaitVisible(chromedp.CSS(selector))(ctx, target); err != nil {
			return none, err
		}
		if _, err = chromedp.Evaluate[bool](fmt.Sprintf(waitForRest, selector),
			chromedp.EvalAwaitPromise)(ctx, target); err != nil {
			return none, err
		}
		return chromedp.Click(chromedp.CSS(selector))(ctx, target)
	}
}

// fill types a text into a field. With JavaScript, the field of a snippet's code is its editor.
func (tab *tab) fill(field, text string) {
	tab.t.Helper()
	if number, ok := strings.CutPrefix(field, "#code-"); ok && !tab.scriptDisabled {
		editor := fmt.Sprintf(".snippet:nth-child(%s) .cm-content", number)
		tab.do(chromedp.WaitVisible(chromedp.CSS(editor)), chromedp.Focus(chromedp.CSS(editor)))
		command(tab, input.InsertText, input.InsertTextParams{Text: text})
		return
	}
	tab.do(chromedp.SendKeys(chromedp.CSS(field), text))
}

// disableScript turns JavaScript off in the tab.
func (tab *tab) disableScript() {
	tab.t.Helper()
	command(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	tab.scriptDisabled = true
}

// choose selects the option with a value in a list.
func (tab *tab) choose(list, value string) {
	tab.t.Helper()
	tab.do(chromedp.SetValue(chromedp.CSS(list), value))
}

// path returns the path of the page.
func (tab *tab) path() string {
	tab.t.Helper()
	return evaluate[string](tab, "location.pathname")
}

// codes returns the code of each snippet on the page of a paste, without line numbers.
func (tab *tab) codes() []string {
	tab.t.Helper()
	return evaluate[[]string](tab, `Array.from(document.querySelectorAll(".pasty .code code"),
		code => {
			const copy = code.cloneNode(true);
			copy.querySelectorAll(".lines a").forEach(number => number.remove());
			return copy.textContent;
		})`)
}

// TestForms creates, edits and deletes a paste without JavaScript, on each screen.
func TestForms(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.disableScript()
			tab.useScreen(screen)
			checkPage := func(name string) {
				t.Helper()
				tab.wantFit()
				tab.fullScreenshot(name)
			}
			tab.show("/")
			checkPage("signed-out")
			tab.signIn(program.EpoxyToken)
			tab.show("/")
			const first, second = "\npackage main\n\nfunc main() {}\n", "print('two')"
			title := "<form> of " + name + "."
			tab.fill("#title", title)
			tab.fill("#name-1", "main.go")
			tab.fill("#code-1", first)
			tab.press("button[value=add]", "#code-2")
			tab.fill("#code-2", second)
			tab.choose("#language-2", "Python")
			tab.choose("#expires", "1w")
			tab.choose("#visibility", "private")
			tab.fill("#tags", "one, two")
			checkPage("filled-in")
			tab.press("button.main", ".pasty")
			if codes := tab.codes(); len(codes) != 2 || codes[0] != first || codes[1] != second {
				t.Errorf("got the codes %q of the new paste, want %q and %q", codes, first, second)
			}
			checkPage("created")
			pastePath := tab.path()

			tab.press(`a[href$="/edit"]`, "#code-2")
			if code := evaluate[string](tab, `document.querySelector("#code-1").value`); code != first {
				t.Errorf("got the code %q in the form to edit, want %q", code, first)
			}
			tab.fill("#code-2", "x = 3\n")
			tab.press("button[value=remove-1]", "fieldset:only-of-type")
			if code := evaluate[string](tab, `document.querySelector("#code-1").value`); code != "x = 3\n"+second {
				t.Errorf("got the code %q after removing the first snippet, want %q", code, "x = 3\n"+second)
			}
			checkPage("edited")
			tab.press("button.main", ".pasty")
			tab.press(`a[href$="/history"]`, ".edit")
			if n := evaluate[int](tab, "document.querySelectorAll('.change').length"); n != 2 {
				t.Errorf("got %d changes in the history, want 2: a removed snippet and an edited one", n)
			}
			checkPage("history")

			tab.show(pastePath + "/edit")
			tab.fill("#code-1", "y = 4\n")
			tab.editElsewhere(pastePath, "Edited elsewhere")
			tab.press("button.main", "form .problem")
			if !tab.expect("409") {
				t.Error("got no status 409, want it for the conflict")
			}
			const edited = "y = 4\nx = 3\n" + second
			if code := evaluate[string](tab, `document.querySelector("#code-1").value`); code != edited {
				t.Errorf("got the code %q after the conflict, want the typed one, %q", code, edited)
			}
			checkPage("conflict")
			tab.press("button.main", ".pasty")

			tab.press(`a[href$="/delete"]`, "form button.main")
			checkPage("question")
			tab.press("form button.main", "main:not(:has(form button.main))")
			if path := tab.path(); path != "/pastes" {
				t.Errorf("got the page %s after deleting the paste, want /pastes", path)
			}
			if text := evaluate[string](tab, "document.body.innerText"); strings.Contains(text, title) {
				t.Errorf("got the list %s, want it without the deleted paste %q", text, title)
			}
		})
	}
}

// editElsewhere changes the title of Epoxy's paste through the API, while the tab may have a form open.
func (tab *tab) editElsewhere(path, title string) {
	tab.t.Helper()
	sendAsOwner(tab.t, http.MethodPatch, tab.origin+"/paste"+path, map[string]any{"title": title})
}

// createEditedPaste creates a public paste of Epoxy, edits it, and returns its id.
func createEditedPaste(t *testing.T, origin string) (id string) {
	t.Helper()
	python := pasty{Title: "", Language: "Python", Code: "print(1)\u202e"}
	id = sendAsOwner(t, http.MethodPost, origin+"/paste", map[string]any{
		"title": "One's own", "isPublic": true, "tags": "a,b",
		"pasties": []pasty{{Title: "main.go", Language: "Go", Code: "package main\n"}, python},
	})
	sendAsOwner(t, http.MethodPatch, origin+"/paste/"+id, map[string]any{
		"title":   "Edited",
		"pasties": []pasty{{Title: "main.go", Language: "Go", Code: "package main\n\nfunc main() {}\n"}, python},
	})
	return id
}

// sendAsOwner sends a request to the API with Epoxy's token, and returns the id of the paste in the answer.
func sendAsOwner(t *testing.T, method, url string, body map[string]any) (id string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(method, url, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", program.EpoxyToken)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var paste struct {
		ID string `json:"_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&paste); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: got %s, error %v, want 200 and a paste", method, url, response.Status, err)
	}
	return paste.ID
}

// TestDoubleClickSendsFormOnce clicks the button of a form again right after the browser has sent the form.
func TestDoubleClickSendsFormOnce(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	tab := open(t, origin)
	tab.signIn(program.EpoxyToken)
	ownPastes := func() (paths []string) {
		t.Helper()
		tab.show("/pastes")
		return evaluate[[]string](tab, `Array.from(document.querySelectorAll(".own li > div > a"), a => a.pathname)`)
	}
	const doubleClick = `{
		const button = document.querySelector("form button.main");
		button.click();
		setTimeout(() => button.click());
	}`
	before := len(ownPastes())
	tab.show("/")
	tab.fill("#code-1", "once")
	tab.do(chromedp.Evaluate[chromedp.Void](doubleClick), chromedp.WaitVisible(chromedp.CSS(".pasty")))
	pastePath := tab.path()
	if paths := ownPastes(); len(paths) != before+1 {
		t.Errorf("got %d pastes, %q, after a double click, want %d", len(paths), paths, before+1)
	}
	tab.show(pastePath + "/delete")
	tab.do(chromedp.Evaluate[chromedp.Void](doubleClick),
		chromedp.WaitVisible(chromedp.CSS("main:not(:has(form button.main))")))
	if path := tab.path(); path != "/pastes" {
		t.Errorf("got the page %s after deleting with a double click, want /pastes", path)
	}
	// After going back in the browser's history, the form can be sent again.
	tab.show("/")
	tab.fill("#code-1", "again")
	tab.press("button.main", ".pasty")
	tab.do(chromedp.NavigateBack(), chromedp.WaitEnabled(chromedp.CSS("form button.main")))
	tab.press("button.main", ".pasty")
	if paths := ownPastes(); len(paths) != before+2 {
		t.Errorf("got %d pastes, %q, after going back, want %d", len(paths), paths, before+2)
	}
}

// TestFormAboveTheFold checks that the form shows its title, lifetime, visibility and button without scrolling, and
// that the sticky row at the bottom cuts no element in two.
func TestFormAboveTheFold(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	check := func(name string) {
		t.Helper()
		for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
			tab.do(chromedp.EmulateViewport(size[0], size[1]))
			tab.show("/")
			tab.do(chromedp.WaitVisible(chromedp.CSS(".cm-content")))
			hidden := evaluate[[]string](tab, `Array.from(
				document.querySelectorAll("#title, #expires, #visibility, .bar .main")).filter(field => {
					const {left, top, width, height} = field.getBoundingClientRect();
					return document.elementFromPoint(left + width / 2, top + height / 2) !== field ||
						document.elementFromPoint(left + width / 2, top + height - 1) !== field;
				}).map(field => field.id || field.className)`)
			cut := evaluate[[]string](tab, `Array.from(
				document.querySelectorAll("#paste-form :is(label, input, button, p, legend)"))
				.filter(element => element.checkVisibility() && !element.closest(".bar")).filter(element => {
					const {top, bottom} = element.getBoundingClientRect();
					const bar = document.querySelector(".bar").getBoundingClientRect().top;
					return top < bar && bottom > bar;
				}).map(element => element.outerHTML.slice(0, 80))`)
			if len(hidden) > 0 || len(cut) > 0 {
				t.Errorf("%s, window %v: got the fields %q hidden and the elements %q cut in two, want none", name, size, hidden,
					cut)
			}
			tab.screenshot(fmt.Sprint(name, " ", size[0]))
		}
		// A window of 1280 by 1024 pixels at a zoom of 400 %.
		tab.do(chromedp.EmulateViewport(320, 256))
		tab.show("/")
		if evaluate[bool](tab, `document.querySelector(".bar").getBoundingClientRect().top < innerHeight`) {
			t.Errorf("%s: got the sticky row over the form in a low window, want it below the form", name)
		}
		tab.screenshot(name + " 320")
	}
	check("signed out")
	tab.do(chromedp.EmulateViewport(tabWidth, tabHeight))
	tab.signIn(program.EpoxyToken)
	check("signed in")
}

// TestInvalidForm sends an invalid form, corrects it, and sends it again.
func TestInvalidForm(t *testing.T) {
	t.Parallel()
	tab := open(t, serveDemonstration(t))
	tab.show("/")
	tab.press("button.main", "#code-1-problem")
	if !evaluate[bool](tab, `document.activeElement.matches("#code-1, .snippet:first-child .cm-content")`) {
		t.Error("got the focus elsewhere, want it on the invalid field")
	}
	if !tab.expect("400") {
		t.Error("got no status 400, want it for the invalid form")
	}
	tab.screenshot("light")
	tab.fill("#code-1", "x")
	// Enter saves the paste, although another button comes first in the form.
	tab.press("button[value=add]", "#name-2")
	tab.fill("#name-2", "two.txt\n")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".pasty")))
	if n := evaluate[int](tab, "document.querySelectorAll('.pasty').length"); n != 2 {
		t.Errorf("got %d snippets, want 2", n)
	}
}

// dropFiles drops files on the form. The map is from names to contents in base64.
func (tab *tab) dropFiles(files map[string]string) {
	tab.t.Helper()
	object, err := json.Marshal(files)
	if err != nil {
		tab.t.Fatal(err)
	}
	evaluate[bool](tab, `(() => {
		const dataTransfer = new DataTransfer();
		for (const [name, content] of Object.entries(`+string(object)+`)) {
			dataTransfer.items.add(new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], name));
		}
		for (const type of ["dragover", "drop"]) {
			document.querySelector("#code-1").dispatchEvent(new DragEvent(type,
				{dataTransfer, bubbles: true, cancelable: true}));
		}
		return true;
	})()`)
}

// TestDropAndUploadFiles drops files on the form, and uploads some with its file field, also to be encrypted. Each file
// becomes a snippet. The page refuses a file that is not text, and names it.
func TestDropAndUploadFiles(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	text := base64.StdEncoding.EncodeToString([]byte("print('ü')\r\n"))
	tab.show("/")
	tab.fill("#name-1", "typed.txt")
	tab.fill("#code-1", "typed")
	tab.dropFiles(map[string]string{"a.py": text, "b.py": text,
		"picture.png": base64.StdEncoding.EncodeToString([]byte("\x89PNG\xff"))})
	tab.do(chromedp.WaitVisible(chromedp.CSS("#files-problem")))
	if problem := evaluate[string](tab, `document.querySelector("#files-problem").textContent`); !strings.Contains(problem,
		"picture.png") {
		t.Errorf("got the problem %q, want picture.png in it", problem)
	}
	tab.press("button.main", ".pasty") // the problem and the snippets appear together
	if codes := tab.codes(); len(codes) != 3 || codes[0] != "typed" || codes[1] != "print('ü')\n" {
		t.Errorf("got the codes %q, want the typed one and those of a.py and b.py", codes)
	}

	folder := t.TempDir()
	var paths []string
	for name, content := range map[string]string{"c.txt": "c", "bad.bin": "\xff"} {
		paths = append(paths, filepath.Join(folder, name))
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tab.show("/")
	tab.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), paths), tab.click("#encrypt"),
		chromedp.WaitVisible(chromedp.CSS("#files-problem")))
	if problem := evaluate[string](tab, `document.querySelector("#files-problem").textContent`); !strings.Contains(problem,
		"bad.bin") {
		t.Errorf("got the problem %q, want bad.bin in it", problem)
	}
	tab.dropFiles(map[string]string{"c.txt": text})
	tab.do(chromedp.WaitVisible(chromedp.CSS("#name-2")))
	tab.do(tab.click("button.main"))
	tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
	files := evaluate[[]string](tab, `Array.from(document.querySelectorAll("section.pasty"),
		section => {
			const code = section.querySelector("code").cloneNode(true);
			code.querySelectorAll("a").forEach(number => number.remove());
			return section.querySelector("h2").textContent + " " + code.textContent;
		})`)
	if len(files) != 2 || files[0] != "c.txt c" || files[1] != "c.txt print('ü')\r\n" {
		t.Errorf("got the decrypted files %q, want c.txt twice with its texts", files)
	}
	tab.wantAccessible("two files of one name")
}
