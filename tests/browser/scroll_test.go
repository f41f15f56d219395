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

// frames scrolls from the top of a page to its end, and returns how long each frame took, in milliseconds.
const frames = `new Promise(resolve => {
	const took = [], step = (document.documentElement.scrollHeight - innerHeight) / 90;
	let last = performance.now();
	const frame = now => {
		took.push(now - last);
		last = now;
		if (took.length > 90) return resolve(took.slice(1));
		scrollBy(0, step);
		requestAnimationFrame(frame);
	};
	scrollTo(0, 0);
	requestAnimationFrame(frame);
})`

// longCode has lines of Go of so many bytes in all.
func longCode(bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "\tvalue%d, err := read(ctx, \"name %d\") // line %d\n", i, i, i+1)
	}
	return b.String()
}

// worked returns how long the page's thread has worked so far, in seconds of processor time.
func (tab *tab) worked() float64 {
	tab.t.Helper()
	for _, metric := range command(tab, performance.GetMetrics, cdp.Empty{}).Metrics {
		if metric.Name == "TaskDuration" {
			return metric.Value
		}
	}
	tab.t.Fatal("got no metric TaskDuration")
	return 0
}

// TestScrolling scrolls through a paste of 500 kB, and checks that what is far from the window is not laid out. It only
// prints how long a frame takes, because that depends on the machine.
func TestScrolling(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	code := longCode(500_000)
	lines := strings.Count(code, "\n")
	for _, language := range []string{"Plain Text", "Go"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			id := create(t, origin, "Long", pasty{Language: language, Code: code})
			tab := open(t, origin)
			command(tab, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"})
			tab.show("/" + id)
			began := tab.worked()
			took := read(tab, chromedp.Evaluate[[]float64](frames, chromedp.EvalAwaitPromise))
			slices.Sort(took)
			t.Logf("%d frames: median %.0f ms, 95th percentile %.0f ms, %.1f ms of processor time each", len(took),
				took[len(took)/2], took[len(took)*95/100], 1000*(tab.worked()-began)/float64(len(took)))
			plain := evaluate[int](tab, `document.querySelectorAll(".code code *:not(span[class]:not(.lines))").length`)
			if plain > lines+lines/50 {
				t.Errorf("got %d elements beside colours for %d lines, want about one for each", plain, lines)
			}
			const numbers = `Array.from(document.querySelectorAll(".lines a"))`
			drawn := evaluate[int](tab, numbers+`.filter(a => a.checkVisibility({contentVisibilityAuto: true})).length`)
			if all := evaluate[int](tab, numbers+`.length`); all != lines || drawn == 0 || drawn > 1500 {
				t.Errorf("got %d numbers, %d of them laid out, want %d, and only those near the window laid out", all, drawn, lines)
			}
		})
	}
}

// settled waits until the browser has drawn some frames.
const settled = `new Promise(resolve => {
	let left = 10;
	const frame = () => left-- ? requestAnimationFrame(frame) : resolve();
	frame();
})`

// TestLinesOfGroups selects lines of several groups by the address, with the script and without.
func TestLinesOfGroups(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	const selected = `Array.from(document.querySelectorAll(".selected a"), a => a.textContent)`
	const top = `document.getElementById("L290").getBoundingClientRect().top`
	for name, file := range map[string]pasty{
		"code":  {Language: "Go", Code: longCode(50_000)},
		"prose": {Language: "Plain Text", Code: strings.Repeat(strings.Repeat("many words ", 30)+"\n", 700)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := create(t, origin, "Long", file)
			tab := open(t, origin)
			tab.show("/" + id + "#L290-L410")
			if got := evaluate[[]string](tab, selected); len(got) != 121 || got[0] != "290" || got[120] != "410" {
				t.Errorf("got %v selected, want lines 290 to 410", got)
			}
			tab.do(chromedp.Evaluate[chromedp.Void](settled, chromedp.EvalAwaitPromise))
			if at, height := evaluate[float64](tab, top), evaluate[float64](tab, "innerHeight"); at < 0 || at > height {
				t.Errorf("got the first line at %v, want it in the window", at)
			}
			tab.picture("selected")
			click := `document.getElementById("L292").click()`
			evaluate[bool](tab, `document.getElementById("L292").focus() || `+click+` || true`)
			if got := evaluate[[]string](tab, selected); len(got) != 1 || got[0] != "292" {
				t.Errorf("got %v selected, want the line that was clicked alone", got)
			}
			if got := evaluate[string](tab, "document.activeElement.id"); got != "L292" {
				t.Errorf("got the focus on %q, want it where it was", got)
			}

			tab.withoutScript()
			tab.show("/" + id)
			tab.show("/" + id + "#L290")
			tab.wait(top + ` > 0 && ` + top + ` < innerHeight`)
			if got := evaluate[string](tab, `document.querySelector(":target").id`); got != "L290" {
				t.Errorf("got %q as the target, want line 290", got)
			}
			tab.picture("target")
			tab.do(chromedp.Click(chromedp.CSS("[id=L292]")))
			tab.wait(`location.hash === "#L292"`)
		})
	}
}

// TestSelection selects all code as a person does: the selection is what Raw has, without numbers.
func TestSelection(t *testing.T) {
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
			tab.show("/" + create(t, origin, "To select", file))
			for _, hash := range []string{"", "#L2-L150"} {
				got := evaluate[string](tab, `(() => {
					location.hash = "`+hash+`";
					getSelection().selectAllChildren(document.querySelector(".code code"));
					return getSelection().toString();
				})()`)
				want := strings.TrimSuffix(strings.ReplaceAll(file.Code, "\r", ""), "\n") // browsers leave the last one out
				if got != want {
					t.Errorf("%s: got %q, want %q", hash, got, want)
				}
			}
		})
	}
}
