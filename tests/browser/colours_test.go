package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/program"
)

// backgroundColour is the background colour of the page.
const backgroundColour = "getComputedStyle(document.body).backgroundColor"

// TestColours switches between light and dark, with JavaScript and without.
func TestColours(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	v := vectors(t)[0]
	encrypted := "/" + sendAsOwner(t, http.MethodPost, origin+"/encrypted",
		map[string]any{"version": v.Version, "cipher": v.Cipher, "salt": v.Salt})
	for name, noScript := range map[string]bool{"script": false, "no script": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			if noScript {
				tab.disableScript()
			}
			tab.setColourScheme("light")
			tab.show("/search")
			light := evaluate[string](tab, backgroundColour)
			tab.press("button[value=dark]", "button[value=dark][aria-pressed=true]")
			dark := evaluate[string](tab, backgroundColour)
			if path := tab.path(); dark == light || path != "/search" {
				t.Errorf("got the background %s on %s, want another one than %s on /search", dark, path, light)
			}
			tab.show("/sign-in")
			if colour := evaluate[string](tab, backgroundColour); colour != dark {
				t.Errorf("got the background %s on the next page, want the dark one, %s", colour, dark)
			}
			tab.setColourScheme("dark")
			tab.press("button[value=light]", "button[value=light][aria-pressed=true]")
			if colour := evaluate[string](tab, backgroundColour); colour != light {
				t.Errorf("got the background %s on a dark system, want the chosen light one, %s", colour, light)
			}
			tab.press("button[name=colours][value='']", "button[value=''][aria-pressed=true]")
			if colour := evaluate[string](tab, backgroundColour); colour != dark {
				t.Errorf("got the background %s, want %s, as the system is dark", colour, dark)
			}
			if noScript {
				return
			}
			// The colours change without losing the key, which is in the fragment of the URL.
			tab.show(encrypted + "#" + v.Key)
			tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
			tab.press("button[value=light]", "button[value=light][aria-pressed=true]")
			tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
		})
	}
}

// TestTimes checks relative times, with the exact local time as the title, or exact times in UTC without JavaScript.
func TestTimes(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	path := "/" + sendAsOwner(t, http.MethodPost, origin+"/paste",
		map[string]any{"expiresIn": "1w", "pasties": []pasty{{Code: "x"}}})
	tab := open(t, origin)
	command(tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
	tab.show(path)
	times := evaluate[[]string](tab,
		`Array.from(document.querySelectorAll("time"), time => time.textContent + "; " + time.title)`)
	if len(times) != 2 || !strings.HasPrefix(times[1], "in 7 days; ") && !strings.HasPrefix(times[1], "next week; ") ||
		!strings.HasSuffix(times[0], "GMT+5:30") || !strings.Contains(times[0], "; ") || strings.Contains(times[0], "UTC") {
		t.Errorf("got %q, want two relative times, the second in a week, with local times as titles", times)
	}
	noScript := open(t, origin)
	noScript.disableScript()
	noScript.show(path)
	if text := evaluate[string](noScript, `document.querySelector("time").textContent`); !strings.HasSuffix(text, " UTC") {
		t.Errorf("got %q without JavaScript, want the exact time in UTC", text)
	}
}

// TestPhoneLayout checks that a phone shows the header of a page in one row, and code in the upper half.
func TestPhoneLayout(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	path := "/" + sendAsOwner(t, http.MethodPost, origin+"/paste", map[string]any{
		"title": "A title of six words here", "tags": []string{"one", "two"}, "isPublic": true,
		"pasties": []pasty{{Title: "main.go", Language: "Go", Code: "package main\n\nfunc main() {}\n"},
			{Title: "b.py", Code: "x = 1"}},
	})
	tab := open(t, origin)
	tab.signIn(program.EpoxyToken)
	tab.do(chromedp.EmulateViewport(390, 844))
	tab.show(path)
	tab.screenshot("paste")
	if height := evaluate[float64](tab, `document.querySelector(".top").getBoundingClientRect().height`); height > 64 {
		t.Errorf("got a header %v pixels high, want one row of at most 64", height)
	}
	if top := evaluate[float64](tab, `document.querySelector(".code .lines").getBoundingClientRect().top`); top > 422 {
		t.Errorf("got the code at %v pixels from the top, want it in the upper half, at most at 422", top)
	}
	tab.press(".menu", ".top nav form button")
	tab.screenshot("menu")
	tab.press(".top nav a[href='/starred']", ".top")
	tab.do(chromedp.Click(chromedp.CSS(".menu")), chromedp.WaitVisible(chromedp.CSS("nav [aria-current=page]")))
	if current := evaluate[string](tab,
		`document.querySelector("nav [aria-current=page]").textContent`); current != "Starred" {
		t.Errorf(`got %q marked as the current page in the menu, want "Starred"`, current)
	}
}

// TestTargetSize checks that buttons, fields and links of the header are at least 40 pixels high.
func TestTargetSize(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	edited := createEditedPaste(t, origin)
	tab := open(t, origin)
	tab.signIn(program.EpoxyToken)
	for _, narrow := range []bool{false, true} {
		if narrow {
			tab.do(chromedp.EmulateViewport(390, 844))
		}
		for _, path := range []string{
			"/", "/" + edited, "/" + edited + "/edit", "/" + edited + "/delete", "/pastes", "/search", "/account",
			"/account/tokens",
		} {
			tab.show(path)
			small := evaluate[[]string](tab, `Array.from(document.querySelectorAll(
				"button, .button, summary, select, input:not([type=checkbox], [type=hidden]), .top nav > a"))
				.filter(e => e.checkVisibility() && !e.matches(".unseen, .cm-editor *") && e.getBoundingClientRect().height < 40)
				.map(e => e.outerHTML.slice(0, 80) + " " + e.getBoundingClientRect().height)`)
			if len(small) > 0 {
				t.Errorf("%s, narrow %t: got the small targets %q, want each at least 40 pixels high", path, narrow, small)
			}
		}
	}
}

// TestForcedColours checks that selected lines stand out in a forced-colours mode, such as Windows's high contrast.
func TestForcedColours(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	tab := open(t, origin)
	command(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}},
	})
	tab.show("/" + createEditedPaste(t, origin) + "#1-L1-L2")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".selected")))
	if style := evaluate[string](tab,
		`getComputedStyle(document.querySelector(".selected")).outlineStyle`); style != "solid" {
		t.Errorf(`got the outline style %q of a selected line, want "solid"`, style)
	}
	tab.screenshot("selected")
}
