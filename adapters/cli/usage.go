package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
)

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

// Arguments accepts the arguments with these names; [NAME] may be left out, and [NAME...] be any number.
func Arguments(names ...string) cobra.PositionalArgs {
	needed, most := 0, len(names)
	for _, name := range names {
		switch {
		case strings.HasSuffix(name, "...]"):
			most = math.MaxInt
		case !strings.HasPrefix(name, "["):
			needed++
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < needed:
			return Usage("%s needs %s. See '%s --help'", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > most:
			return Usage("%s is not something that %s knows. See '%s --help'", Quote(args[most]), cmd.CommandPath(), cmd.CommandPath())
		}
		return nil
	}
}
