// Package faults breaks what the program stands on while clients ask it things, and looks whether the
// invariants hold: nothing acknowledged is lost, nothing half-done is seen, every answer is right or a
// prompt 503, and no client is starved.
//
// Each scenario is a test over the real binary. Facts are asserted; figures, which depend on the machine, are collected
// with record and printed in one table at the end. Scenarios that compare times, or keep the processors busy, run one
// after another. The others mostly wait, and run two at once after them. "make test-faults" runs them all.
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
	program.ShippedTimeouts = !program.Raced // the scenarios want answers in the time that is shipped
	reasons, code := readReasons(func() int { return database.Main(m) })
	program.Remove()
	figures.print()
	reasons.print(os.Stdout)
	os.Exit(code)
}

// figures are what the scenarios measured.
var figures table

type table struct {
	mu   sync.Mutex
	rows [][4]string
}

// figureMark tells a figure from the reason why a test fails, in the output of the test.
const figureMark = "figure: "

// record notes a figure for the table at the end. must says what has to hold of it, or is empty when the
// figure is only for reading; that it holds is for the test to assert.
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
	_, _ = fmt.Fprintln(w, "\nWHAT WAS MEASURED [what it must be]")
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
