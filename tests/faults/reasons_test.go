package faults

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reasons are what the failed tests of a run complained of, read from what package testing prints: no test can ask
// it. They are wanted after the table, at the end of the output, which is what remains of a long log.
type reasons struct {
	test   string // that is printing
	said   map[string][]string
	failed []string
}

var (
	testLine   = regexp.MustCompile(`^[\x16 ]*(?:=== (?:RUN|NAME|CONT)  +|--- (FAIL|PASS|SKIP): )(\S+)`)
	reasonLine = regexp.MustCompile(`^ +(\w+_test\.go:\d+: .*)`)
)

// readReasons passes on what run prints and returns the reasons in it.
func readReasons(run func() int) (*reasons, int) {
	terminal := os.Stdout
	from, to, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	r, read := &reasons{said: map[string][]string{}}, make(chan struct{})
	go func() {
		defer close(read)
		r.read(io.TeeReader(from, terminal))
	}()
	os.Stdout = to
	code := run()
	os.Stdout = terminal
	_ = to.Close()
	<-read
	return r, code
}

func (r *reasons) read(output io.Reader) {
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		if match := testLine.FindStringSubmatch(line); match != nil {
			r.test = match[2]
			if match[1] == "FAIL" {
				r.failed = append(r.failed, r.test)
			}
		} else if match := reasonLine.FindStringSubmatch(line); match != nil && !strings.Contains(line, figureMark) {
			r.said[r.test] = append(r.said[r.test], match[1])
		}
		if err != nil {
			return
		}
	}
}

// print writes the first reasons of each failed test, each on a line.
func (r *reasons) print(w io.Writer) {
	const most, longest = 5, 400
	if len(r.failed) > 0 {
		_, _ = fmt.Fprintln(w, "\nFAILED, AND WHY")
	}
	slices.Sort(r.failed)
	for i, test := range r.failed {
		entries := r.said[test]
		if len(entries) == 0 && i+1 < len(r.failed) && strings.HasPrefix(r.failed[i+1], test+"/") {
			continue // a test of its own has the reason
		}
		_, _ = fmt.Fprintln(w, test)
		for _, reason := range entries[:min(most, len(entries))] {
			_, _ = fmt.Fprintf(w, "  %.*s\n", longest, reason)
		}
		if more := len(entries) - most; more > 0 {
			_, _ = fmt.Fprintf(w, "  and %d more\n", more)
		}
	}
}

// TestReasons parses what package testing prints with and without -v.
func TestReasons(t *testing.T) {
	const want = `
FAILED, AND WHY
TestA/postgres
  a_test.go:3: 7 lost
  a_test.go:4: exit code 1
TestB
  b_test.go:5: not in time: the node is ready
`
	for name, output := range map[string]string{
		"verbose": `=== RUN   TestA
=== RUN   TestA/postgres
    a_test.go:2: figure: answers: 7 lost
    a_test.go:3: 7 lost
    a_test.go:4: exit code 1
    program.go:99: standard output:
        none
=== RUN   TestA/sqlite
    a_test.go:2: figure: answers: 7 right
=== NAME  TestA
    program.go:99: standard output:
--- FAIL: TestA (2.00s)
    --- FAIL: TestA/postgres (1.00s)
    --- PASS: TestA/sqlite (1.00s)
=== RUN   TestB
    b_test.go:5: not in time: the node is ready
--- FAIL: TestB (1.00s)
=== RUN   TestC
    c_test.go:6: said by the way
--- PASS: TestC (1.00s)
FAIL
`,
		"short": `--- FAIL: TestA (2.00s)
    --- FAIL: TestA/postgres (1.00s)
        a_test.go:2: figure: answers: 7 lost
        a_test.go:3: 7 lost
        a_test.go:4: exit code 1
        program.go:99: standard output:
            none
    program.go:99: standard output:
--- FAIL: TestB (1.00s)
    b_test.go:5: not in time: the node is ready
FAIL`,
	} {
		r := &reasons{said: map[string][]string{}}
		r.read(strings.NewReader(output))
		var printed strings.Builder
		r.print(&printed)
		if got := printed.String(); got != want {
			t.Errorf("%s: got %s\nwant %s", name, got, want)
		}
	}
}
