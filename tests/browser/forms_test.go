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

// serveUsers returns the origin of a server with users and tokens.
func serveUsers(t *testing.T) (origin string) {
	t.Helper()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	return "http://" + program.Serve(t, cfg.URL).Address
}

// signedIn signs in with a token.
func (tab *tab) signedIn(token string) {
	tab.t.Helper()
	tab.show("/sign-in")
	tab.do(chromedp.SendKeys(chromedp.CSS("#token"), token+"\r"), chromedp.WaitReady(chromedp.CSS(".top form button")))
}

// press clicks what leads to another page, and waits for what is there.
func (tab *tab) press(button, there string) {
	tab.t.Helper()
	tab.do(tab.click(button), chromedp.WaitVisible(chromedp.CSS(there)))
}

// click waits until an element stays in its place, and clicks it. What moves between the press and the release of a
// mouse button is not clicked.
func (tab *tab) click(selector string) chromedp.Action[chromedp.Void] {
	const still = `new Promise(resolve => {
		let before = "";
		const look = () => {
			const element = document.querySelector(%q);
			element?.scrollIntoView({block: "nearest", behavior: "instant"});
			const place = JSON.stringify(element?.getBoundingClientRect());
			if (element && place === before) resolve(true);
			else { before = place; setTimeout(() => requestAnimationFrame(look)); }
		};
		look();
	})`
	if tab.scriptless { // nothing moves
		return chromedp.Click(chromedp.CSS(selector))
	}
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		if _, err = chromedp.WaitVisible(chromedp.CSS(selector))(ctx, target); err != nil {
			return none, err
		}
		if _, err = chromedp.Evaluate[bool](fmt.Sprintf(still, selector),
			chromedp.EvalAwaitPromise)(ctx, target); err != nil {
			return none, err
		}
		return chromedp.Click(chromedp.CSS(selector))(ctx, target)
	}
}

// fill types into a field. The code of a snippet is typed into its editor.
func (tab *tab) fill(field, text string) {
	tab.t.Helper()
	if number, ok := strings.CutPrefix(field, "#code-"); ok && !tab.scriptless {
		field = fmt.Sprintf(".snippet:nth-child(%s) .cm-content", number)
		tab.do(chromedp.WaitVisible(chromedp.CSS(field)), chromedp.Focus(chromedp.CSS(field)))
		command(tab, input.InsertText, input.InsertTextParams{Text: text})
		return
	}
	tab.do(chromedp.SendKeys(chromedp.CSS(field), text))
}

// withoutScript shows pages as browsers without JavaScript do.
func (tab *tab) withoutScript() {
	tab.t.Helper()
	command(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	tab.scriptless = true
}

// choose selects what a list has under that value.
func (tab *tab) choose(list, value string) {
	tab.t.Helper()
	tab.do(chromedp.SetValue(chromedp.CSS(list), value))
}

func (tab *tab) path() string {
	tab.t.Helper()
	return evaluate[string](tab, "location.pathname")
}

// codes returns what a tab shows as code.
func (tab *tab) codes() []string {
	tab.t.Helper()
	return evaluate[[]string](tab, `Array.from(document.querySelectorAll(".pasty .code code"),
		code => {
			const copy = code.cloneNode(true);
			copy.querySelectorAll(".lines a").forEach(number => number.remove());
			return copy.textContent;
		})`)
}

// TestForms creates, edits and deletes a paste without a script, on common screens.
func TestForms(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.withoutScript()
			tab.at(screen)
			look := func(name string) {
				t.Helper()
				tab.wantFit()
				tab.wholePicture(name)
			}
			tab.show("/")
			look("signed-out")
			tab.signedIn(program.EpoxyToken)
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
			look("filled-in")
			tab.press("button.main", ".pasty")
			if codes := tab.codes(); len(codes) != 2 || codes[0] != first || codes[1] != second {
				t.Errorf("got the code %q, want what was typed", codes)
			}
			look("created")
			id := tab.path()

			tab.press(`a[href$="/edit"]`, "#code-2")
			if code := evaluate[string](tab, `document.querySelector("#code-1").value`); code != first {
				t.Errorf("got %q to edit, want %q", code, first)
			}
			tab.fill("#code-2", "x = 3\n")
			tab.press("button[value=remove-1]", "fieldset:only-of-type")
			if text := evaluate[string](tab, `document.querySelector("#code-1").value`); text != "x = 3\n"+second {
				t.Errorf("got %q left, want the second snippet", text)
			}
			look("edited")
			tab.press("button.main", ".pasty")
			tab.press(`a[href$="/history"]`, ".edit")
			if n := evaluate[int](tab, "document.querySelectorAll('.change').length"); n != 2 {
				t.Errorf("got %d changes in the history, want that of a snippet and one that was removed", n)
			}
			look("history")

			tab.show(id + "/edit")
			tab.fill("#code-1", "y = 4\n")
			tab.another(id, "Edited elsewhere")
			tab.press("button.main", "form .problem")
			if !tab.expect("409") {
				t.Error("got no 409, want the edit refused")
			}
			if code := evaluate[string](tab, `document.querySelector("#code-1").value`); code != "y = 4\n"+"x = 3\n"+second {
				t.Errorf("got the code %q, want what was typed", code)
			}
			look("conflict")
			tab.press("button.main", ".pasty")

			tab.press(`a[href$="/delete"]`, "form button.main")
			look("question")
			tab.press("form button.main", "main:not(:has(form button.main))")
			if path := tab.path(); path != "/pastes" {
				t.Errorf("got to %s, want the list of one's pastes", path)
			}
			if strings.Contains(evaluate[string](tab, "document.body.innerText"), title) {
				t.Error("got the paste in the list, want it gone")
			}
		})
	}
}

// another edits a paste as another program of its owner does, while the tab has a form open.
func (tab *tab) another(path, title string) {
	tab.t.Helper()
	asOwner(tab.t, http.MethodPatch, tab.origin+"/paste"+path, map[string]any{"title": title})
}

// createOwn stores a public paste, edits it, and returns its id.
func createOwn(t *testing.T, origin string) (id string) {
	t.Helper()
	pasties := []pasty{{Title: "main.go", Language: "Go", Code: "package main\n"},
		{Title: "", Language: "Python", Code: "print(1)\u202e"}}
	id = asOwner(t, http.MethodPost, origin+"/paste",
		map[string]any{"title": "One's own", "isPublic": true, "tags": "a,b", "pasties": pasties})
	asOwner(t, http.MethodPatch, origin+"/paste/"+id, map[string]any{
		"title": "Edited", "pasties": []pasty{{Title: "main.go", Language: "Go",
			Code: "package main\n\nfunc main() {}\n"}, pasties[1]},
	})
	return id
}

// asOwner asks the interface for something with the token of a user, and returns the id of the paste that it answers
// with.
func asOwner(t *testing.T, method, url string, body map[string]any) (id string) {
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
	defer response.Body.Close() //nolint:errcheck // it has been read
	var found struct {
		ID string `json:"_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %s, %v, want a paste", response.Status, err)
	}
	return found.ID
}

// TestFormPressedTwice presses the buttons of forms again as soon as the browser has sent them: each form takes effect
// once.
func TestFormPressedTwice(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	tab := open(t, origin)
	tab.signedIn(program.EpoxyToken)
	own := func() (ids []string) {
		t.Helper()
		tab.show("/pastes")
		return evaluate[[]string](tab, `Array.from(document.querySelectorAll(".own li > div > a"), a => a.pathname)`)
	}
	const twice = `{
		const button = document.querySelector("form button.main");
		button.click();
		setTimeout(() => button.click());
	}`
	before := len(own())
	tab.show("/")
	tab.fill("#code-1", "once")
	tab.do(chromedp.Evaluate[chromedp.Void](twice), chromedp.WaitVisible(chromedp.CSS(".pasty")))
	path := tab.path()
	if ids := own(); len(ids) != before+1 {
		t.Errorf("got the pastes %q, want one more than %d", ids, before)
	}
	tab.show(path + "/delete")
	tab.do(chromedp.Evaluate[chromedp.Void](twice), chromedp.WaitVisible(chromedp.CSS("main:not(:has(form button.main))")))
	if there := tab.path(); there != "/pastes" {
		t.Errorf("got to %s, want the list: it is deleted once", there)
	}
	// The form that a browser goes back to can be sent.
	tab.show("/")
	tab.fill("#code-1", "again")
	tab.press("button.main", ".pasty")
	tab.do(chromedp.NavigateBack(), chromedp.WaitEnabled(chromedp.CSS("form button.main")))
	tab.press("button.main", ".pasty")
	if ids := own(); len(ids) != before+2 {
		t.Errorf("got the pastes %q, want two more than %d", ids, before)
	}
}

// TestFold checks that the form shows its title, lifetime, visibility and button on common screens, and that the row
// which stays in sight cuts nothing.
func TestFold(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	check := func(name string) {
		t.Helper()
		for _, screen := range [][2]int64{{1280, 800}, {390, 844}} {
			tab.do(chromedp.EmulateViewport(screen[0], screen[1]))
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
				t.Errorf("%s, %v: got %q out of sight and %q cut, want none", name, screen, hidden, cut)
			}
			tab.picture(fmt.Sprint(name, " ", screen[0]))
		}
		// a zoom of 400 %
		tab.do(chromedp.EmulateViewport(320, 256))
		tab.show("/")
		if evaluate[bool](tab, `document.querySelector(".bar").getBoundingClientRect().top < innerHeight`) {
			t.Errorf("%s: got the last row over the form of a low window, want it below the form", name)
		}
		tab.picture(name + " 320")
	}
	check("signed out")
	tab.do(chromedp.EmulateViewport(tabWidth, tabHeight))
	tab.signedIn(program.EpoxyToken)
	check("signed in")
}

// TestWrongForm breaks a rule, and continues with the form that comes back.
func TestWrongForm(t *testing.T) {
	t.Parallel()
	tab := open(t, serveDemonstration(t))
	tab.show("/")
	tab.press("button.main", "#code-1-problem")
	if !evaluate[bool](tab, `document.activeElement.matches("#code-1, .snippet:first-child .cm-content")`) {
		t.Error("got the focus elsewhere, want it where something is wrong")
	}
	if !tab.expect("400") {
		t.Error("got no 400, want the form refused")
	}
	tab.picture("light")
	tab.fill("#code-1", "x")
	// The key sends the form as the button that saves it does, whatever comes first on the page.
	tab.press("button[value=add]", "#name-2")
	tab.fill("#name-2", "two.txt\n")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".pasty")))
	if n := evaluate[int](tab, "document.querySelectorAll('.pasty').length"); n != 2 {
		t.Errorf("got %d snippets, want two", n)
	}
}

// drop drops several files on the page. Their texts are in base64.
func (tab *tab) drop(files map[string]string) {
	tab.t.Helper()
	encoded, err := json.Marshal(files)
	if err != nil {
		tab.t.Fatal(err)
	}
	evaluate[bool](tab, `(() => {
		const dropped = new DataTransfer();
		for (const [name, text] of Object.entries(`+string(encoded)+`)) {
			dropped.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
		}
		for (const type of ["dragover", "drop"]) {
			document.querySelector("#code-1").dispatchEvent(new DragEvent(type,
				{dataTransfer: dropped, bubbles: true, cancelable: true}));
		}
		return true;
	})()`)
}

// TestFiles drops files on the form and chooses them: each becomes a snippet, and a file that is not text is refused by
// name, also if the browser encrypts.
func TestFiles(t *testing.T) {
	t.Parallel()
	tab := open(t, serveUsers(t))
	text := base64.StdEncoding.EncodeToString([]byte("print('ü')\r\n"))
	tab.show("/")
	tab.fill("#name-1", "typed.txt")
	tab.fill("#code-1", "typed")
	tab.drop(map[string]string{"a.py": text, "b.py": text,
		"picture.png": base64.StdEncoding.EncodeToString([]byte("\x89PNG\xff"))})
	tab.do(chromedp.WaitVisible(chromedp.CSS("#files-problem")))
	if problem := evaluate[string](tab, `document.querySelector("#files-problem").textContent`); !strings.Contains(problem,
		"picture.png") {
		t.Errorf("got %q, want the name of the file that is no text", problem)
	}
	tab.press("button.main", ".pasty") // the others are snippets by now
	if codes := tab.codes(); len(codes) != 3 || codes[0] != "typed" || codes[1] != "print('ü')\n" {
		t.Errorf("got %q, want what was typed and two files", codes)
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
		t.Errorf("got %q, want the name of the file that is no text", problem)
	}
	tab.drop(map[string]string{"c.txt": text})
	tab.do(chromedp.WaitVisible(chromedp.CSS("#name-2")))
	tab.do(tab.click("button.main"))
	tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
	files := evaluate[[]string](tab, `Array.from(document.querySelectorAll("section.pasty"),
		s => {
			const code = s.querySelector("code").cloneNode(true);
			code.querySelectorAll("a").forEach(number => number.remove());
			return s.querySelector("h2").textContent + " " + code.textContent;
		})`)
	if len(files) != 2 || files[0] != "c.txt c" || files[1] != "c.txt print('ü')\r\n" {
		t.Errorf("got %q decrypted, want two files", files)
	}
	tab.wantUsable("two files of one name")
}
