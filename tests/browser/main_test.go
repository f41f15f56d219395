// Package browser looks at what the program shows to people, in a headless Chromium: the real binary, a real page, and
// nothing that the browser complains about. "make test-browser" runs it.
package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/database"

	"github.com/gluepot/gluepot/tests/program"
)

var screenshots = flag.String("screenshots", "", "keep the pictures that tests take in this folder")

var axe = flag.String("axe", "", "the file axe.min.js of axe-core, which looks for what keeps people from using a page")

// browsers are the names of the program that is looked for, the smallest first.
var browsers = []string{"chromium-headless-shell", "chromium", "google-chrome"}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run runs the tests with one browser and returns the exit code.
func run(m *testing.M) int {
	path := ""
	for _, name := range browsers {
		if executable, err := exec.LookPath(name); err == nil {
			path = executable
			break
		}
	}
	if path == "" {
		fmt.Fprintf(os.Stderr,
			"These tests need a browser, one of %q on PATH. Debian: apt-get install chromium-headless-shell\n", browsers)
		return 1
	}
	defer program.Remove()
	defer stopDemonstration()
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], // root has no sandbox, which chromedp knows
			chromedp.ExecPath(path), chromedp.Flag("host-resolver-rules", "MAP "+lanName+" 127.0.0.1"))...)
	defer stop()
	ctx, closeBrowser := chromedp.NewContext(allocator)
	defer closeBrowser()
	started = sync.OnceValues(func() (context.Context, error) { return ctx, chromedp.Do(ctx) })
	return database.Main(m)
}

// lanName is a name that browsers trust no more than any other in a local network. They trust 127.0.0.1 without TLS.
const lanName = "paste.lan"

// started returns the context of the browser, which runs from the first call on.
var started func() (context.Context, error)
