package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestWrapping wraps long lines, and does not, with the script, which remembers it, and without.
func TestWrapping(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	id := create(t, origin, "Long lines", pasty{Title: "a.go", Language: "Go",
		Code: "x := 1 // " + strings.Repeat("word ", 200) + "\n"},
		pasty{Title: "b.txt", Language: "Plain Text", Code: strings.Repeat("word ", 200) + "\n"})
	const wide = `Array.from(document.querySelectorAll(".code"), code => code.scrollWidth > code.clientWidth).join()`
	const shown = `Array.from(document.querySelectorAll(".wrap-on, .wrap-off")).filter(a => a.checkVisibility()).
		map(a => a.textContent).join()`
	for _, script := range []bool{true, false} {
		for _, narrow := range []bool{false, true} {
			t.Run(fmt.Sprintf("script %t, narrow %t", script, narrow), func(t *testing.T) {
				t.Parallel()
				tab := open(t, origin)
				if !script {
					tab.withoutScript()
				}
				wantWide := func(when, want, links string) {
					t.Helper()
					if got, offered := evaluate[string](tab, wide), evaluate[string](tab, shown); got != want || offered != links {
						t.Errorf("%s: got wide codes %s and the links %s, want %s and %s", when, got, offered, want, links)
					}
				}
				click := func(link string) {
					t.Helper()
					tab.do(chromedp.Click(chromedp.CSS(link)))
					if !script {
						want := map[string]string{".wrap-on": "?wrap=", ".wrap-off": "?wrap=no"}[link]
						tab.wait(`location.search === "` + want + `" && document.readyState === "complete"`)
					}
				}
				const bothWrapped, bothWide = "Unwrap lines,Unwrap lines", "Wrap lines,Wrap lines"
				if narrow {
					tab.phone()
					tab.show("/" + id)
					wantWide("at first", "false,false", bothWrapped)
					tab.wantFit()
				} else {
					tab.show("/" + id)
					wantWide("at first", "true,false", "Wrap lines,Unwrap lines")
					click(".wrap-on")
					wantWide("wrapped", "false,false", bothWrapped)
				}
				tab.picture("wrapped")
				click(".wrap-off")
				tab.wait(wide + ` === "true,true"`)
				wantWide("unwrapped", "true,true", bothWide)
				if !script {
					return
				}
				tab.show("/" + id)
				wantWide("on the next page", "true,true", bothWide)
				tab.show("/" + id + "?wrap")
				wantWide("as the address wants", "false,false", bothWrapped)
				tab.wantUsable("a page with wrapped lines")
			})
		}
	}
}

// TestFileList finds files in a list, folds one, and scrolls through a long one whose header stays in sight, without a
// script.
func TestFileList(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	files := []pasty{{Title: "a.go", Language: "Go", Code: longCode(20_000)}}
	for _, name := range []string{"b.txt", "c.txt", ""} {
		files = append(files, pasty{Title: name, Language: "Plain Text", Code: "a word\n"})
	}
	four, three := create(t, origin, "Four files", files...), create(t, origin, "Three files", files[:3]...)
	tab := open(t, origin)
	tab.withoutScript()
	tab.show("/" + three)
	if n := evaluate[int](tab, `document.querySelectorAll(".files").length`); n != 0 {
		t.Errorf("got %d lists of three files, want none", n)
	}
	tab.show("/" + four)
	if list := evaluate[string](tab,
		`Array.from(document.querySelectorAll(".files a"), a => a.textContent + a.hash).join()`); list !=
		"a.go#1,b.txt#2,c.txt#3,Snippet 4#4" {
		t.Errorf("got the list %s, want four files", list)
	}
	tab.picture("four")
	evaluate[bool](tab, `scrollTo(0, 3000), true`)
	const header = `document.querySelector(".pasty > header").getBoundingClientRect().top`
	tab.wait(header + ` === 0`)
	tab.picture("scrolled")
	evaluate[bool](tab, `scrollTo(0, 0), true`)
	tab.do(chromedp.Click(chromedp.CSS(".body > summary")))
	tab.wait(`!document.querySelector(".code").checkVisibility()`)
	tab.picture("folded")
	tab.do(chromedp.Click(chromedp.CSS(`.files a[href="#2"]`)))
	tab.wait(`location.hash === "#2"`)
	tab.wantFit()
	tab.phone()
	tab.wantFit()
	tab.picture("phone")
}
