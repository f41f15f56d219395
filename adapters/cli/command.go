package cli

import (
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

// UsageError is the caller's mistake rather than the program's failure.
type UsageError = command.UsageError

// What all commands have in common, those of package client too.
var (
	Usage           = command.Usage
	Group           = command.Group
	Arguments       = command.Arguments
	Unknown         = command.Unknown
	Nearest         = command.Nearest
	Quote           = command.Quote
	MayHoldPassword = command.MayHoldPassword

	isTerminal = command.IsTerminal
	visible    = command.Visible
	line       = command.Line
	inputThere = command.InputThere
	openInput  = command.OpenInput
	textsThere = command.TextsThere
	texts      = command.Texts
	titleOf    = command.TitleOf
	named      = command.Named
)

const standardInput = command.StandardInput

// ofUser adds to a command about a user what USER means.
func ofUser(cmd *cobra.Command) *cobra.Command {
	cmd.Long = cmd.Short + ".\n\nUSER is a name or, if no user has that name, an id; name:epoxy and id:k3j2h1g0 decide."
	return cmd
}
