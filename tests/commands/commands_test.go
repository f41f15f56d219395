// Package commands tests what the commands parse, print and return: in this process, through the program's Run. What
// needs a process of its own (signals, a server that runs beside, a pipe as standard input) is in tests/e2e.
package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	gluepot "github.com/gluepot/gluepot/bootstrap/program"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

func TestMain(m *testing.M) {
	os.Exit(apart(m))
}

// apart runs the tests in an empty folder, where a forgotten path does no harm, and without the developer's settings.
func apart(m *testing.M) int {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "GLUEPOT_") && !strings.HasPrefix(name, "GLUEPOT_TEST_") {
			_ = os.Unsetenv(name) // it is there
		}
	}
	folder, err := os.MkdirTemp("", "gluepot-commands-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	if err := os.Chdir(folder); err != nil {
		panic(err)
	}
	return database.Main(m)
}

// The exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// result is what a call of the program left.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the program to its end.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runReading(t, "", args...)
}

// runReading is run with a text as standard input.
func runReading(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return runFrom(t, strings.NewReader(stdin), args...)
}

// runFrom is run with a standard input.
func runFrom(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	var stdout, stderr program.Output
	code := gluepot.Run(t.Context(), args, stdin, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// runWith is run with settings, each NAME=VALUE, in the environment. No other test may run beside that.
func runWith(t *testing.T, settings []string, args ...string) (got result) {
	t.Helper()
	t.Run("with settings", func(t *testing.T) {
		for _, setting := range settings {
			name, value, _ := strings.Cut(setting, "=")
			t.Setenv(name, value)
		}
		got = run(t, args...)
	})
	return got
}

// wantRefusal wants one line on standard error with that text and nothing on standard output.
func wantRefusal(t *testing.T, line string, got result, code int, text string) {
	t.Helper()
	if want := (result{code, "", "gluepot: " + text + "\n"}); got != want {
		t.Errorf("%s: got %+v, want %+v", line, got, want)
	}
}

// wantRefusalWith is wantRefusal for a line that has all those parts in it.
func wantRefusalWith(t *testing.T, line string, got result, code int, parts ...string) {
	t.Helper()
	if got.code != code || got.stdout != "" || !strings.HasPrefix(got.stderr, "gluepot: ") ||
		strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("%s: got %+v, want exit code %d and one line of standard error", line, got, code)
	}
	for _, part := range parts {
		if !strings.Contains(got.stderr, part) {
			t.Errorf("%s: got %q, want %q in it", line, got.stderr, part)
		}
	}
}

// installation is a database that commands run on.
type installation struct {
	*testing.T
	url string
}

// install returns a migrated, empty installation.
func install(t *testing.T) installation {
	t.Helper()
	return installation{t, database.SQLite(t).URL}
}

// run runs one command, whose arguments are separated by spaces, on the installation. Its standard input is "code".
func (i installation) run(line string) result {
	i.Helper()
	return i.runReading("code", line)
}

// runReading is run with a standard input.
func (i installation) runReading(stdin, line string) result {
	i.Helper()
	return runReading(i.T, stdin, append([]string{"--database-url=" + i.url}, strings.Fields(line)...)...)
}

// do runs a command that must not fail, and returns what it prints.
func (i installation) do(line string) string {
	i.Helper()
	got := i.run(line)
	if got.code != exitOK || got.stderr != "" {
		i.Fatalf("%s: got %+v, want exit code 0 and no standard error", line, got)
	}
	return got.stdout
}

// field runs a command that prints one line of JSON, and returns one field of it.
func (i installation) field(line, name string) string {
	i.Helper()
	var fields map[string]any
	if text := i.do(line); json.Unmarshal([]byte(text), &fields) != nil || fields[name] == nil {
		i.Fatalf("%s: got %q, want JSON with the field %q", line, text, name)
	}
	return fmt.Sprint(fields[name])
}

// wantRefused wants a command to fail with that message, and to print nothing else.
func (i installation) wantRefused(line, message string) {
	i.Helper()
	wantRefusal(i.T, line, i.run(line), exitFailed, message)
}

// placeholders stand for what is different each time. Those in tables are as long as what they stand for, so that
// columns stay.
var placeholders = strings.NewReplacer(
	"RANDOMID", "[0-9a-z]{8}",
	"YYYY-MM-DD HH:MM:SS", `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`,
	`"TIME"`, `"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`,
	"SECONDS", `\d{10}`,
	"SECRET", "gluepot_[0-9A-Za-z]{40,}",
	"ONETIMECODE", "[A-Z2-7]{26}",
)

// wantLike compares what a command printed with a text that has placeholders in it.
func wantLike(t *testing.T, line, got, want string) {
	t.Helper()
	pattern := placeholders.Replace(regexp.QuoteMeta(want))
	if !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
		t.Errorf("%s:\ngot\n%swant\n%s", line, got, want)
	}
}
