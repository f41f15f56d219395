package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestWrapping wraps and unwraps long lines with JavaScript, which remembers the choice for the next page, and without.
func TestWrapping(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	id := createPaste(t, origin, "Long lines", pasty{Title: "a.go", Language: "Go",
		Code: "x := 1 // " + strings.Repeat("word ", 200) + "\n"},
		pasty{Title: "b.txt", Language: "Plain Text", Code: strings.Repeat("word ", 200) + "\n"})
	const overflows = `Array.from(document.querySelectorAll(".code"), code => code.scrollWidth > code.clientWidth).join()`
	const visibleLinks = `Array.from(document.querySelectorAll(".wrap-on, .wrap-off")).filter(a => a.checkVisibility()).
		map(a => a.textContent).join()`
	for _, script := range []bool{true, false} {
		for _, narrow := range []bool{false, true} {
			t.Run(fmt.Sprintf("script %t, narrow %t", script, narrow), func(t *testing.T) {
				t.Parallel()
				tab := open(t, origin)
				if !script {
					tab.disableScript()
				}
				wantLayout := func(when, wantOverflows, wantLinks string) {
					t.Helper()
					got, links := evaluate[string](tab, overflows), evaluate[string](tab, visibleLinks)
					if got != wantOverflows || links != wantLinks {
						t.Errorf("%s: got overflowing files %s and the links %s, want %s and %s", when, got, links, wantOverflows,
							wantLinks)
					}
				}
				click := func(link string) {
					t.Helper()
					tab.do(chromedp.Click(chromedp.CSS(link)))
					if !script {
						want := map[string]string{".wrap-on": "?wrap=", ".wrap-off": "?wrap=no"}[link]
						tab.waitFor(`location.search === "` + want + `" && document.readyState === "complete"`)
					}
				}
				const unwrapLinks, wrapLinks = "Unwrap lines,Unwrap lines", "Wrap lines,Wrap lines"
				if narrow {
					tab.useNarrowWindow()
					tab.show("/" + id)
					wantLayout("at first", "false,false", unwrapLinks)
					tab.wantFit()
				} else {
					tab.show("/" + id)
					wantLayout("at first", "true,false", "Wrap lines,Unwrap lines")
					click(".wrap-on")
					wantLayout("after wrapping", "false,false", unwrapLinks)
				}
				tab.screenshot("wrapped")
				click(".wrap-off")
				tab.waitFor(overflows + ` === "true,true"`)
				wantLayout("after unwrapping", "true,true", wrapLinks)
				if !script {
					return
				}
				tab.show("/" + id)
				wantLayout("on the next page", "true,true", wrapLinks)
				tab.show("/" + id + "?wrap")
				wantLayout("with ?wrap", "false,false", unwrapLinks)
				tab.wantAccessible("a page with wrapped lines")
			})
		}
	}
}

// TestFileList checks the list of files, which pages have from four files on, the sticky header of a long file, and
// folding, all without JavaScript.
func TestFileList(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	files := []pasty{{Title: "a.go", Language: "Go", Code: longCode(20_000)}}
	for _, name := range []string{"b.txt", "c.txt", ""} {
		files = append(files, pasty{Title: name, Language: "Plain Text", Code: "a word\n"})
	}
	fourFiles := createPaste(t, origin, "Four files", files...)
	threeFiles := createPaste(t, origin, "Three files", files[:3]...)
	tab := open(t, origin)
	tab.disableScript()
	tab.show("/" + threeFiles)
	if n := evaluate[int](tab, `document.querySelectorAll(".files").length`); n != 0 {
		t.Errorf("got %d file lists on a page with three files, want 0", n)
	}
	tab.show("/" + fourFiles)
	list := evaluate[string](tab,
		`Array.from(document.querySelectorAll(".files a"), a => a.textContent + a.hash).join()`)
	if want := "a.go#1,b.txt#2,c.txt#3,Snippet 4#4"; list != want {
		t.Errorf("got the file list %s, want %s", list, want)
	}
	tab.screenshot("four")
	evaluate[bool](tab, `scrollTo(0, 3000), true`)
	const headerTop = `document.querySelector(".pasty > header").getBoundingClientRect().top`
	tab.waitFor(headerTop + ` === 0`)
	tab.screenshot("scrolled")
	evaluate[bool](tab, `scrollTo(0, 0), true`)
	tab.do(chromedp.Click(chromedp.CSS(".body > summary")))
	tab.waitFor(`!document.querySelector(".code").checkVisibility()`)
	tab.screenshot("folded")
	tab.do(chromedp.Click(chromedp.CSS(`.files a[href="#2"]`)))
	tab.waitFor(`location.hash === "#2"`)
	tab.wantFit()
	tab.useNarrowWindow()
	tab.wantFit()
	tab.screenshot("phone")
}
