package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/domain/audit"
)

// UsageError is the caller's mistake rather than the program's failure.
type UsageError = command.UsageError

// Shared with package client, for package program.
var (
	Usage           = command.Usage
	Group           = command.Group
	Arguments       = command.Arguments
	Unknown         = command.Unknown
	Quote           = command.Quote
	MayHoldPassword = command.MayHoldPassword
	IsWebURL        = command.IsWebURL
	Long            = command.Interruptible
	Nearest         = command.Nearest
	CheckValue      = command.CheckValue
)

// RunE is cobra's RunE.
type RunE = command.RunE

// Lifetime is the value of a flag: how long a paste lives.
type Lifetime = command.Lifetime

// Lifetimes are the values of a Lifetime.
const Lifetimes = command.Lifetimes

// newCommand returns a command with the flag --json, and with an example on each line.
func (c *Commands) newCommand(use, short, examples string, do action) *cobra.Command {
	examples = "  gluepot " + strings.ReplaceAll(examples, "\n", "\n  gluepot ")
	cmd := &cobra.Command{Use: use, Short: short, Example: examples, RunE: c.run(false, do)}
	cmd.Flags().BoolVar(&c.json, "json", false, "write JSON")
	return cmd
}

// withUser explains USER in the help of a command, and adds --identity as an alternative.
func withUser(cmd *cobra.Command) *cobra.Command {
	cmd.Long = cmd.Short +
		".\n\nUSER is a name or, if no user has that name, an id; write name:epoxy or id:k3j2h1g0 to say which.\n" +
		"Instead of USER, --identity github:77 names an account that the user signs in with."
	addIdentity(cmd)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(identityFlag) {
			args = append([]string{""}, args...)
		}
		return Arguments(cmd, args)
	}
	return cmd
}

const identityFlag = "identity"

// addIdentity adds --identity. Where the command has --owner or --anonymous, only one of them may be given.
func addIdentity(cmd *cobra.Command) {
	cmd.Flags().String(identityFlag, "", "the user who signs in with this `ACCOUNT` at a provider, such as github:77")
	for _, other := range []string{"owner", "anonymous"} {
		if cmd.Flags().Lookup(other) != nil {
			cmd.MarkFlagsMutuallyExclusive(identityFlag, other)
		}
	}
}

// resolveIdentity resolves --identity: it sets --owner, or inserts the user before the arguments.
func resolveIdentity(ctx context.Context, m Modules, cmd *cobra.Command, args []string) ([]string, error) {
	flags := cmd.Flags()
	if !flags.Changed(identityFlag) {
		return args, nil
	}
	owner, err := m.Accounts.Find.Do(ctx, audit.Operator(), flags.Lookup(identityFlag).Value.String())
	if err != nil {
		return nil, err
	}
	reference := "id:" + string(owner.ID)
	if flags.Lookup("owner") != nil {
		return args, flags.Set("owner", reference)
	}
	return append([]string{reference}, args...), nil
}
