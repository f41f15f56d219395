package failover

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gluepot/gluepot/tests/markdown"
)

// result is what a scenario was to the nodes that find the primary in one way.
type result struct {
	scenario, way         string
	elected               string        // when another server was the primary, if there was one
	writes, reads, public time.Duration // longest time without
	profiles              answers       // to public reads
	unavailable           int           // answers with 503
	wrong, acked, lost    int
	ready                 string // when every node was, after that
}

// results are printed at the end, and go into SCALING.md when that is asked for.
var results table

type table struct {
	mu   sync.Mutex
	rows []result
}

func (a *table) add(t *testing.T, r result) {
	t.Helper()
	t.Logf("%s: %s", r.way, strings.Join(r.cells(), ", "))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows = append(a.rows, r)
}

var titles = []string{
	"what happens", "primary by", "new primary after", "without writes", "without reads", "without public reads",
	"public reads not answered; the slowest", "503",
	"neither right nor 503", "acknowledged writes lost", "all nodes ready again after that",
}

func (r result) cells() []string {
	return []string{
		r.scenario, r.way, r.elected, seconds(r.writes), seconds(r.reads), seconds(r.public), r.profiles.String(),
		fmt.Sprint(r.unavailable), fmt.Sprint(r.wrong),
		fmt.Sprintf("%d of %d", r.lost, r.acked), r.ready,
	}
}

func (a answers) String() string {
	return fmt.Sprintf("%d of %d; %.2f s", a.requests-a.right, a.requests, a.slowest.Seconds())
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func (a *table) print(to io.Writer) {
	if len(a.rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "\n%s\n", strings.Join(titles, "\t"))
	for _, r := range a.rows {
		_, _ = fmt.Fprintln(w, strings.Join(r.cells(), "\t"))
	}
	_ = w.Flush()
}

// writeDocs puts the table into SCALING.md.
func (a *table) writeDocs(folder string) error {
	var rows [][]string
	for _, r := range a.rows {
		rows = append(rows, r.cells())
	}
	return markdown.ReplaceTable(filepath.Join(folder, "SCALING.md"), "make test-failover", circumstances(), titles, rows)
}

func circumstances() string {
	average := "unknown"
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		average, _, _ = strings.Cut(string(content), " ")
	}
	return fmt.Sprintf("%s; everything on one machine with %d cores, whose load was %s at the end.",
		time.Now().UTC().Format("2006-01-02"),
		runtime.NumCPU(), average)
}
