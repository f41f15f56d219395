package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/program"
)

// ground is the colour behind the page.
const ground = "getComputedStyle(document.body).backgroundColor"

// TestColours switches between light and dark, with a script and without: the next page has the colours from its first
// bytes.
func TestColours(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	v := vectors(t)[0]
	sealed := "/" + asOwner(t, http.MethodPost, origin+"/encrypted",
		map[string]any{"version": v.Version, "cipher": v.Cipher, "salt": v.Salt})
	for name, scriptless := range map[string]bool{"script": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			if scriptless {
				tab.withoutScript()
			}
			tab.prefer("light")
			tab.show("/search")
			light := evaluate[string](tab, ground)
			tab.press("button[value=dark]", "button[value=dark][aria-pressed=true]")
			dark := evaluate[string](tab, ground)
			if at := tab.path(); dark == light || at != "/search" {
				t.Errorf("got %s at %s, want another ground than %s on the same page", dark, at, light)
			}
			tab.show("/sign-in")
			if got := evaluate[string](tab, ground); got != dark {
				t.Errorf("got %s, want %s on other pages, too", got, dark)
			}
			tab.prefer("dark")
			tab.press("button[value=light]", "button[value=light][aria-pressed=true]")
			if got := evaluate[string](tab, ground); got != light {
				t.Errorf("got %s where the system is dark, want %s", got, light)
			}
			tab.press("button[name=colours][value='']", "button[value=''][aria-pressed=true]")
			if got := evaluate[string](tab, ground); got != dark {
				t.Errorf("got %s, want %s, as the system has it", got, dark)
			}
			if scriptless {
				return
			}
			tab.show(sealed + "#" + v.Key)
			tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
			tab.press("button[value=light]", "button[value=light][aria-pressed=true]")
			tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty"))) // it still has the key
		})
	}
}

// TestTimes checks relative times, with the exact local time as a title, or the exact UTC without a script.
func TestTimes(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	path := "/" + asOwner(t, http.MethodPost, origin+"/paste",
		map[string]any{"expiresIn": "1w", "pasties": []pasty{{Code: "x"}}})
	tab := open(t, origin)
	command(tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
	tab.show(path)
	times := evaluate[[]string](tab,
		`Array.from(document.querySelectorAll("time"), time => time.textContent + "; " + time.title)`)
	if len(times) != 2 || !strings.HasPrefix(times[1], "in 7 days; ") && !strings.HasPrefix(times[1], "next week; ") ||
		!strings.HasSuffix(times[0], "GMT+5:30") || !strings.Contains(times[0], "; ") || strings.Contains(times[0], "UTC") {
		t.Errorf("got %q, want how long ago, and the local time", times)
	}
	without := open(t, origin)
	without.withoutScript()
	without.show(path)
	if text := evaluate[string](without, `document.querySelector("time").textContent`); !strings.HasSuffix(text, " UTC") {
		t.Errorf("got %q, want the exact time", text)
	}
}

// TestPhone checks that a phone shows the header of a page in one row, and the code in the upper half.
func TestPhone(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	path := "/" + asOwner(t, http.MethodPost, origin+"/paste", map[string]any{
		"title": "A title of six words here", "tags": []string{"one", "two"}, "isPublic": true,
		"pasties": []pasty{{Title: "main.go", Language: "Go", Code: "package main\n\nfunc main() {}\n"},
			{Title: "b.py", Code: "x = 1"}},
	})
	tab := open(t, origin)
	tab.signedIn(program.EpoxyToken)
	tab.do(chromedp.EmulateViewport(390, 844))
	tab.show(path)
	tab.picture("paste")
	if height := evaluate[float64](tab, `document.querySelector(".top").getBoundingClientRect().height`); height > 64 {
		t.Errorf("got a header of %v pixels, want one row", height)
	}
	if top := evaluate[float64](tab, `document.querySelector(".code .lines").getBoundingClientRect().top`); top > 422 {
		t.Errorf("got the code at %v, want it in the upper half of 844", top)
	}
	tab.press(".menu", ".top nav form button")
	tab.picture("menu")
	tab.press(".top nav a[href='/starred']", ".top")
	tab.do(chromedp.Click(chromedp.CSS(".menu")), chromedp.WaitVisible(chromedp.CSS("nav [aria-current=page]")))
	if current := evaluate[string](tab,
		`document.querySelector("nav [aria-current=page]").textContent`); current != "Starred" {
		t.Errorf("got %q marked, want the page that is shown", current)
	}
}

// TestTargets checks that everything to press has at least 40 pixels, on common screens.
func TestTargets(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	own := createOwn(t, origin)
	tab := open(t, origin)
	tab.signedIn(program.EpoxyToken)
	for _, narrow := range []bool{false, true} {
		if narrow {
			tab.do(chromedp.EmulateViewport(390, 844))
		}
		for _, path := range []string{
			"/", "/" + own, "/" + own + "/edit", "/" + own + "/delete", "/pastes", "/search", "/account", "/account/tokens",
		} {
			tab.show(path)
			small := evaluate[[]string](tab, `Array.from(document.querySelectorAll(
				"button, .button, summary, select, input:not([type=checkbox], [type=hidden]), .top nav > a"))
				.filter(e => e.checkVisibility() && !e.matches(".unseen, .cm-editor *") && e.getBoundingClientRect().height < 40)
				.map(e => e.outerHTML.slice(0, 80) + " " + e.getBoundingClientRect().height)`)
			if len(small) > 0 {
				t.Errorf("%s: got %q, want each at least 40 pixels high", path, small)
			}
		}
	}
}

// TestForcedColours checks that selected lines stand out where the system chooses all colours.
func TestForcedColours(t *testing.T) {
	t.Parallel()
	origin := serveUsers(t)
	tab := open(t, origin)
	command(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}},
	})
	tab.show("/" + createOwn(t, origin) + "#1-L1-L2")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".selected")))
	if style := evaluate[string](tab,
		`getComputedStyle(document.querySelector(".selected")).outlineStyle`); style != "solid" {
		t.Errorf("got the outline %q, want one around the line", style)
	}
	tab.picture("selected")
}
