package command

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/lithammer/fuzzysearch/fuzzy"
	"github.com/spf13/cobra"
)

// UsageError is the caller's mistake rather than the program's failure.
type UsageError struct{ error }

// Usage returns a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Unwrap returns what the caller did wrong.
func (e *UsageError) Unwrap() error { return e.error }

// NoneEmpty returns a UsageError if one of these flags has an empty value, as from an empty variable in a script.
func NoneEmpty(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
			return Usage("--%s is empty. Give it a value, or leave it out", name)
		}
	}
	return nil
}

// Group returns a command that has only subcommands.
func Group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(children...)
	return cmd
}

// Arguments checks the number of arguments against Use, where [NAME] is optional, NAME... one or more, and [NAME...]
// any number.
func Arguments(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	least, most := 0, len(names)
	for _, name := range names {
		if strings.Contains(name, "...") {
			most = math.MaxInt
		}
		if !strings.HasPrefix(name, "[") {
			least++
		}
	}
	switch {
	case len(args) < least:
		return Usage("%s needs %s. See '%s --help'", cmd.CommandPath(), strings.TrimSuffix(names[len(args)], "..."),
			cmd.CommandPath())
	case len(args) > most:
		return Unknown(cmd, args[most])
	}
	return nil
}

// Unknown returns the UsageError for an argument that a command does not take. It suggests similar subcommands.
func Unknown(cmd *cobra.Command, argument string) error {
	suggestion := ""
	cmd.SuggestionsMinimumDistance = min(2, len(argument)/2) // otherwise "ls" would suggest "up"
	if names := cmd.SuggestionsFor(argument); len(names) > 0 {
		suggestion = fmt.Sprintf(" Did you mean %s?", strings.Join(names, " or "))
	}
	path := cmd.CommandPath()
	return Usage("%s does not know %s.%s See '%s --help'", path, Quote(argument), suggestion, path)
}

// Nearest returns the name that a mistyped one probably means, or "".
func Nearest(typed string, names []string) (nearest string) {
	least := max(len(typed)/4, min(2, len(typed)/2)) + 1
	for _, name := range names {
		if distance := fuzzy.LevenshteinDistance(typed, name); distance < least {
			nearest, least = name, distance
		}
	}
	return nearest
}

// CheckValue refuses a setting's value with leftovers of the file that it comes from, such as a carriage return or
// quotes, which docker --env-file keeps. The error does not quote the value, which may be a secret.
func CheckValue(name, value string) error {
	hasQuotes := func(mark string) bool {
		return len(value) > 1 && strings.HasPrefix(value, mark) && strings.HasSuffix(value, mark)
	}
	switch {
	case strings.HasSuffix(value, "\r"):
		return fmt.Errorf("%s ends with a carriage return: "+
			"the file that sets it has Windows line endings (CRLF). Convert it to LF", name)
	case strings.ContainsFunc(value, unicode.IsControl):
		return fmt.Errorf("%s contains a control character: remove it", name)
	case strings.TrimSpace(value) != value:
		return fmt.Errorf("%s begins or ends with a space: remove it", name)
	case hasQuotes(`"`), hasQuotes("'"):
		return fmt.Errorf("%s has quotation marks around its value, which become part of it: remove them", name)
	}
	return nil
}

// Quote quotes an argument for a message, unless it may hold a password: a database URL is easily put in the wrong
// place.
func Quote(typed string) string {
	if MayHoldPassword(typed) {
		return "something that may hold a password"
	}
	return strconv.Quote(typed)
}

// MayHoldPassword reports whether a text seems to have a URL or a connection string in it. A web address does not
// count.
func MayHoldPassword(text string) bool {
	return !IsWebURL(text) && strings.Contains(text, "://") || strings.Contains(strings.ToLower(text), "password=")
}

// IsWebURL reports whether a text is a web address without a user or password.
func IsWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// RunE is cobra's RunE.
type RunE = func(cmd *cobra.Command, args []string) error

// Interruptible wraps a command that takes long. The first SIGINT, SIGTERM or SIGHUP cancels its context, so that it
// ends in order. A second SIGINT or SIGTERM ends the process at once.
func Interruptible(run RunE) RunE {
	return func(cmd *cobra.Command, args []string) error {
		signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
		if !signal.Ignored(syscall.SIGHUP) { // as under nohup
			signals = append(signals, syscall.SIGHUP)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), signals...)
		defer stop()
		context.AfterFunc(ctx, func() {
			signal.Ignore(syscall.SIGHUP) // a closing terminal may send two
			stop()
		})
		cmd.SetContext(ctx)
		return run(cmd, args)
	}
}
