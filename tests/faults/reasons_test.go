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

// reasons are the failure messages of a run, parsed from the output of package testing, which has no API for them. They
// are printed after the table, at the end of the output, where a reader of a long log finds them.
type reasons struct {
	test     string // whose output is being read
	messages map[string][]string
	failed   []string
}

var (
	testLine   = regexp.MustCompile(`^[\x16 ]*(?:=== (?:RUN|NAME|CONT)  +|--- (FAIL|PASS|SKIP): )(\S+)`)
	reasonLine = regexp.MustCompile(`^ +(\w+_test\.go:\d+: .*)`)
)

// readReasons passes on the output of run, and returns the reasons in it.
func readReasons(run func() int) (*reasons, int) {
	terminal := os.Stdout
	from, to, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	r, done := &reasons{messages: map[string][]string{}}, make(chan struct{})
	go func() {
		defer close(done)
		r.read(io.TeeReader(from, terminal))
	}()
	os.Stdout = to
	code := run()
	os.Stdout = terminal
	_ = to.Close()
	<-done
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
			r.messages[r.test] = append(r.messages[r.test], match[1])
		}
		if err != nil {
			return
		}
	}
}

// print writes the first reasons of each failed test, one a line.
func (r *reasons) print(w io.Writer) {
	const maxReasons, maxLength = 5, 400
	if len(r.failed) > 0 {
		_, _ = fmt.Fprintln(w, "\nFAILURES")
	}
	slices.Sort(r.failed)
	for i, test := range r.failed {
		entries := r.messages[test]
		if len(entries) == 0 && i+1 < len(r.failed) && strings.HasPrefix(r.failed[i+1], test+"/") {
			continue // a subtest has the reason
		}
		_, _ = fmt.Fprintln(w, test)
		for _, reason := range entries[:min(maxReasons, len(entries))] {
			_, _ = fmt.Fprintf(w, "  %.*s\n", maxLength, reason)
		}
		if more := len(entries) - maxReasons; more > 0 {
			_, _ = fmt.Fprintf(w, "  and %d more\n", more)
		}
	}
}

// TestReasons parses what package testing prints with and without -v.
func TestReasons(t *testing.T) {
	const want = `
FAILURES
TestA/postgres
  a_test.go:3: 7 lost
  a_test.go:4: exit code 1
TestB
  b_test.go:5: not in time: the node is ready
`
	for name, input := range map[string]string{
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
		r := &reasons{messages: map[string][]string{}}
		r.read(strings.NewReader(input))
		var output strings.Builder
		r.print(&output)
		if got := output.String(); got != want {
			t.Errorf("%s: got %s\nwant %s", name, got, want)
		}
	}
}
