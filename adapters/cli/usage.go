package cli

import (
	"fmt"

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

// Arguments accepts exactly the arguments with these names.
func Arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return Usage("%s needs %s. See '%s --help'", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return Usage("%s is not something that %s knows. See '%s --help'", Quote(args[len(names)]),
				cmd.CommandPath(), cmd.CommandPath())
		}
		return nil
	}
}
