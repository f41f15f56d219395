package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// scrollToEnd scrolls from the top of a page to its end, and returns the duration of each frame in milliseconds.
const scrollToEnd = `new Promise(resolve => {
	const durations = [], step = (document.documentElement.scrollHeight - innerHeight) / 90;
	let last = performance.now();
	const frame = now => {
		durations.push(now - last);
		last = now;
		if (durations.length > 90) return resolve(durations.slice(1));
		scrollBy(0, step);
		requestAnimationFrame(frame);
	};
	scrollTo(0, 0);
	requestAnimationFrame(frame);
})`

// longCode returns lines of Go with at least this many bytes.
func longCode(minBytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < minBytes; i++ {
		fmt.Fprintf(&b, "\tvalue%d, err := read(ctx, \"name %d\") // line %d\n", i, i, i+1)
	}
	return b.String()
}

// cpuSeconds returns the processor time of the page's main thread so far. The test must have enabled the metrics.
func (tab *tab) cpuSeconds() float64 {
	tab.t.Helper()
	for _, metric := range command(tab, performance.GetMetrics, cdp.Empty{}).Metrics {
		if metric.Name == "TaskDuration" {
			return metric.Value
		}
	}
	tab.t.Fatal("got no metric TaskDuration, want one")
	return 0
}

// TestScrolling scrolls through a paste of 500 kB, and checks that only lines near the window are laid out. It logs the
// durations of frames, but does not check them, because they depend on the machine.
func TestScrolling(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	code := longCode(500_000)
	lines := strings.Count(code, "\n")
	for _, language := range []string{"Plain Text", "Go"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			id := createPaste(t, origin, "Long", pasty{Language: language, Code: code})
			tab := open(t, origin)
			command(tab, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"})
			tab.show("/" + id)
			start := tab.cpuSeconds()
			durations := read(tab, chromedp.Evaluate[[]float64](scrollToEnd, chromedp.EvalAwaitPromise))
			slices.Sort(durations)
			frames := len(durations)
			t.Logf("%d frames: median %.0f ms, 95th percentile %.0f ms, %.1f ms of processor time each", frames,
				durations[frames/2], durations[frames*95/100], 1000*(tab.cpuSeconds()-start)/float64(frames))
			elements := evaluate[int](tab, `document.querySelectorAll(".code code *:not(span[class]:not(.lines))").length`)
			if limit := lines + lines/50; elements > limit {
				t.Errorf("got %d elements that are not for colours for %d lines, want at most %d", elements, lines, limit)
			}
			const numbers = `Array.from(document.querySelectorAll(".lines a"))`
			laidOut := evaluate[int](tab, numbers+`.filter(a => a.checkVisibility({contentVisibilityAuto: true})).length`)
			if all := evaluate[int](tab, numbers+`.length`); all != lines || laidOut == 0 || laidOut > 1500 {
				t.Errorf("got %d line numbers, %d of them laid out, want %d, and 1 to 1500 laid out", all, laidOut, lines)
			}
		})
	}
}

// waitForFrames waits until the browser has drawn ten frames.
const waitForFrames = `new Promise(resolve => {
	let left = 10;
	const frame = () => left-- ? requestAnimationFrame(frame) : resolve();
	frame();
})`

// TestSelectLinesFarDown selects lines that are first out of sight, with JavaScript and without. They belong to several
// groups, which the page lays out separately.
func TestSelectLinesFarDown(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	const selected = `Array.from(document.querySelectorAll(".selected a"), a => a.textContent)`
	const lineTop = `document.getElementById("L290").getBoundingClientRect().top`
	for name, file := range map[string]pasty{
		"code":  {Language: "Go", Code: longCode(50_000)},
		"prose": {Language: "Plain Text", Code: strings.Repeat(strings.Repeat("many words ", 30)+"\n", 700)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := createPaste(t, origin, "Long", file)
			tab := open(t, origin)
			tab.show("/" + id + "#L290-L410")
			if got := evaluate[[]string](tab, selected); len(got) != 121 || got[0] != "290" || got[120] != "410" {
				t.Errorf("got the selected lines %v, want 290 to 410", got)
			}
			tab.do(chromedp.Evaluate[chromedp.Void](waitForFrames, chromedp.EvalAwaitPromise))
			if y, height := evaluate[float64](tab, lineTop), evaluate[float64](tab, "innerHeight"); y < 0 || y > height {
				t.Errorf("got line 290 at %v pixels from the top of the window, want 0 to %v", y, height)
			}
			tab.screenshot("selected")
			click := `document.getElementById("L292").click()`
			evaluate[bool](tab, `document.getElementById("L292").focus() || `+click+` || true`)
			if got := evaluate[[]string](tab, selected); len(got) != 1 || got[0] != "292" {
				t.Errorf("got the selected lines %v after a click, want only 292", got)
			}
			if focus := evaluate[string](tab, "document.activeElement.id"); focus != "L292" {
				t.Errorf("got the focus on %q after a click, want L292", focus)
			}

			tab.disableScript()
			tab.show("/" + id)
			tab.show("/" + id + "#L290")
			tab.waitFor(lineTop + ` > 0 && ` + lineTop + ` < innerHeight`)
			if target := evaluate[string](tab, `document.querySelector(":target").id`); target != "L290" {
				t.Errorf("got the target %q, want L290", target)
			}
			tab.screenshot("target")
			tab.do(chromedp.Click(chromedp.CSS("[id=L292]")))
			tab.waitFor(`location.hash === "#L292"`)
		})
	}
}

// TestSelectText selects the code of a page as a user does, and checks that the selected text has no line numbers.
func TestSelectText(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	for name, file := range map[string]pasty{
		"code": {Language: "Go", Code: longCode(20_000)},
		"prose": {Language: "Plain Text", Code: "\n\nfirst\n\n\tindented  \n" + strings.Repeat("line\n\n",
			300) + "last"},
		"one line":    {Language: "Plain Text", Code: "echo 1"},
		"Windows":     {Language: "C", Code: "int a;\r\nint b;\r\n"},
		"line breaks": {Language: "Plain Text", Code: "\n\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.show("/" + createPaste(t, origin, "To select", file))
			for _, hash := range []string{"", "#L2-L150"} {
				got := evaluate[string](tab, `(() => {
					location.hash = "`+hash+`";
					getSelection().selectAllChildren(document.querySelector(".code code"));
					return getSelection().toString();
				})()`)
				want := strings.TrimSuffix(strings.ReplaceAll(file.Code, "\r", ""), "\n") // browsers omit the last line break
				if got != want {
					t.Errorf("with the fragment %q: got the selected text %q, want %q", hash, got, want)
				}
			}
		})
	}
}
