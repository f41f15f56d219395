// Package browser tests the pages of the real program in headless Chromium. A test also fails if the browser reports an
// error or a warning that it does not expect. "make test-browser" runs these tests.
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

var screenshots = flag.String("screenshots", "", "the folder for screenshots; without it, tests take none")

var axe = flag.String("axe", "", "the file axe.min.js of axe-core, which checks the accessibility of pages")

// browserNames are the names of the browser's program, the smallest first.
var browserNames = []string{"chromium-headless-shell", "chromium", "google-chrome"}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run runs the tests with one browser and returns the exit code.
func run(m *testing.M) int {
	path := ""
	for _, name := range browserNames {
		if executable, err := exec.LookPath(name); err == nil {
			path = executable
			break
		}
	}
	if path == "" {
		fmt.Fprintf(os.Stderr,
			"These tests need a browser, one of %q on PATH. Debian: apt-get install chromium-headless-shell\n", browserNames)
		return 1
	}
	defer program.Remove()
	defer stopDemonstration()
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], // which turn the sandbox off for root
			chromedp.ExecPath(path), chromedp.Flag("host-resolver-rules", "MAP "+lanName+" 127.0.0.1"))...)
	defer stop()
	ctx, closeBrowser := chromedp.NewContext(allocator)
	defer closeBrowser()
	startBrowser = sync.OnceValues(func() (context.Context, error) { return ctx, chromedp.Do(ctx) })
	return database.Main(m)
}

// lanName resolves to 127.0.0.1. Without TLS, browsers trust 127.0.0.1, but not this name.
const lanName = "paste.lan"

// startBrowser starts the browser at the first call, and returns its context.
var startBrowser func() (context.Context, error)
