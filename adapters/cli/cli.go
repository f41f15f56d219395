// Package cli is the operators' entrypoint: commands over the same use cases that HTTP has.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
)

// UseCases are what the commands call.
type UseCases struct {
	CreateUser *users.Create
	ShowUser   *users.Show
	ListUsers  *users.List
	UpdateUser *users.Update
	DeleteUser *users.Delete

	IssueToken  *tokens.Issue
	ListTokens  *tokens.List
	RevokeToken *tokens.Revoke

	CreatePaste *pastes.Create
	ListPastes  *pastes.List
	DeletePaste *pastes.Delete
	StarPaste   *pastes.Star
	UnstarPaste *pastes.Unstar

	Sum *stats.Sum

	ImportUsers  *imports.Users
	ImportKeys   *imports.Keys
	ImportPastes *imports.Pastes
}

// Open returns the use cases for one command, and a function that ends their use. A command that migrates may create the
// database and bring its schema up to date, if the configuration allows it; for others these must be there.
type Open func(cmd *cobra.Command, migrates bool) (UseCases, func(context.Context) error, error)

// Commands are the operators' commands.
type Commands struct {
	open        Open
	sources     Sources
	beginImport BeginImport
	stdin       io.Reader
	stdout      io.Writer
	stderr      io.Writer
	now         func() time.Time
}

// New returns the commands. They write results to stdout and everything else to stderr.
func New(open Open, sources Sources, begin BeginImport, stdin io.Reader, stdout, stderr io.Writer) *Commands {
	return &Commands{open: open, sources: sources, beginImport: begin, stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now}
}

// All returns the commands to add to the program's own.
func (c *Commands) All() []*cobra.Command {
	return []*cobra.Command{c.user(), c.token(), c.paste(), c.stats(), c.importing()}
}

// UsageError is the caller's mistake rather than the program's failure.
type UsageError struct{ error }

// Usage returns a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Unwrap returns what the caller did wrong.
func (e *UsageError) Unwrap() error { return e.error }

// Group is a command that only has others.
func Group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: Arguments(), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(children...)
	return cmd
}

// Arguments accepts exactly the arguments with these names.
func Arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return Usage("%s needs %s. See '%s --help'", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return Usage("%s is not something that %s knows. See '%s --help'", Quote(args[len(names)]), cmd.CommandPath(), cmd.CommandPath())
		}
		return nil
	}
}

// Quote quotes what somebody typed, for a message, unless it may hold a password: a database URL is soon in the wrong place.
func Quote(typed string) string {
	if MayHoldPassword(typed) {
		return "something that may hold a password"
	}
	return strconv.Quote(typed)
}

// MayHoldPassword reports whether a text looks as if it had a URL or a connection string in it.
func MayHoldPassword(text string) bool {
	return strings.Contains(text, "://") || strings.Contains(strings.ToLower(text), "password=")
}

// run opens the use cases for the time of one command.
func (c *Commands) run(command action) func(*cobra.Command, []string) error {
	return c.runOn(false, command)
}

// runMigrating is run for a command that may create and migrate the database.
func (c *Commands) runMigrating(command action) func(*cobra.Command, []string) error {
	return c.runOn(true, command)
}

// action is what a command does with the use cases.
type action func(ctx context.Context, u UseCases, args []string) error

func (c *Commands) runOn(migrates bool, command action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		useCases, stop, err := c.open(cmd, migrates)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop(context.WithoutCancel(cmd.Context()))) }()
		return command(cmd.Context(), useCases, args)
	}
}

func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "write JSON")
}

// printJSON writes one value on one line.
func (c *Commands) printJSON(v any) error {
	encoder := json.NewEncoder(c.stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// print writes v as JSON if asked to, else the text.
func (c *Commands) print(asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		return c.printJSON(v)
	}
	_, err := fmt.Fprintf(c.stdout, format, args...)
	return err
}

// table writes aligned columns, the first line being their titles.
func (c *Commands) table(titles ...string) (row func(cells ...string), flush func() error) {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	row = func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) } // flush says what went wrong
	row(titles...)
	return row, w.Flush
}

// moment prints an instant, or "never" for the zero time.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// timeOrNil keeps the zero time out of JSON.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// lifetime is a flag for how long something lives: Go's durations, and whole days (d) and weeks (w).
type lifetime time.Duration

func (l *lifetime) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

func (l *lifetime) Type() string { return "duration" }

func (l *lifetime) Set(text string) error {
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if count, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseUint(count, 10, 16)
			if err != nil || n == 0 {
				return errLifetime
			}
			*l = lifetime(time.Duration(n) * unit)
			return nil
		}
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed <= 0 {
		return errLifetime
	}
	*l = lifetime(parsed)
	return nil
}

var errLifetime = errors.New("write a time such as 30m, 12h, 90d or 2w")
