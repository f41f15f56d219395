// Package faults breaks what the program depends on while it serves clients, and checks the invariants: nothing
// acknowledged is lost, nothing half done is visible, every answer is right or a prompt 503, and no client is starved.
//
// Each scenario is a test with the real program. Tests assert facts. Figures, which depend on the machine, are
// collected with record and printed in one table at the end. Scenarios that compare times, or keep the processors busy,
// run one after another. The others mostly wait, and run afterwards, two at once. "make test-faults" runs all of them.
package faults

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

func TestMain(m *testing.M) {
	program.ShippedTimeouts = !program.Raced // the scenarios expect answers within the default timeouts
	reasons, code := readReasons(func() int { return database.Main(m) })
	program.Remove()
	figures.print()
	reasons.print(os.Stdout)
	os.Exit(code)
}

// figures are the measurements of the scenarios.
var figures table

type table struct {
	mu   sync.Mutex
	rows [][4]string
}

// figureMark distinguishes a figure from the reason of a failure in the output of a test.
const figureMark = "figure: "

// record adds a figure to the table at the end. must says what the test asserts about it, or is empty.
func record(t *testing.T, what string, value any, must string) {
	t.Helper()
	t.Logf("%s%s: %v", figureMark, what, value)
	figures.mu.Lock()
	defer figures.mu.Unlock()
	figures.rows = append(figures.rows, [4]string{strings.TrimPrefix(t.Name(), "Test"), what, fmt.Sprint(value), must})
}

func (f *table) print() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nMEASUREMENTS [what they must be]")
	slices.SortStableFunc(f.rows, func(a, b [4]string) int { return strings.Compare(a[0], b[0]) }) // some ran at once
	last := ""
	for _, row := range f.rows {
		scenario, what, value, must := row[0], row[1], row[2], row[3]
		if scenario != last {
			_, _ = fmt.Fprintln(w, scenario)
		}
		last = scenario
		if must != "" {
			value += " [" + must + "]"
		}
		_, _ = fmt.Fprintf(w, "  %s\t%s\n", what, value)
	}
	_ = w.Flush()
}
