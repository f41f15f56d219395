// Package cli has the operators' commands, over the same use cases as HTTP.
package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
)

// Modules have the use cases that the commands call.
type Modules struct {
	PublicURL string // the address that people use, or ""

	Accounts   *accounts.UseCases
	Users      *users.UseCases
	Tokens     *tokens.UseCases
	Pastes     *pastes.UseCases
	Imports    *imports.UseCases
	Stats      *stats.UseCases
	Moderation *moderation.UseCases
	Search     *search.UseCases // or nil

	Analyze func(context.Context) // see bootstrap.Application
}

// Open returns the use cases for one command, and a function that closes them. A command that migrates may create the
// database and migrate it, if the configuration allows it; for other commands it must exist.
type Open func(cmd *cobra.Command, migrates bool) (Modules, func(context.Context) error, error)

// Commands are the operators' commands. They write results to Stdout and everything else to Stderr.
type Commands struct {
	Open           Open
	OpenCopy       OpenCopy
	Sources        Sources
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	terminal bool // whether Stdout is a terminal
	json     bool // the flag --json
}

// All returns all commands.
func (c *Commands) All() []*cobra.Command {
	c.terminal = command.IsTerminal(c.Stdout)
	return []*cobra.Command{
		c.user(), c.token(), c.invite(), c.paste(), c.block(), c.report(), c.audit(), c.stats(), c.search(),
		c.importData(), c.copy(),
	}
}

// action is what a command does with the use cases. It returns what to show of the result, or nil.
type action func(ctx context.Context, m Modules, args []string) (output, error)

// output writes a result: for people, or with --json.
type output func(c *Commands) error

// run opens the use cases for one command. With migrates, it may create and migrate the database.
func (c *Commands) run(migrates bool, do action) RunE {
	return func(cmd *cobra.Command, args []string) (err error) {
		modules, stop, err := c.Open(cmd, migrates)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop(context.WithoutCancel(cmd.Context()))) }()
		if args, err = resolveIdentity(cmd.Context(), modules, cmd, args); err != nil {
			return err
		}
		show, err := do(cmd.Context(), modules, args)
		if err != nil || show == nil {
			return err
		}
		return show(c)
	}
}

// confirm asks a question, unless yes is set. It fails if the answer is no.
func (c *Commands) confirm(yes bool, question, done string) error {
	if yes || command.Confirm(c.Stdin, c.Stderr, question+" [y/N] ") {
		return nil
	}
	return fault.New(fault.Invalid, "Nothing was "+done+". Answer y, or give --yes.")
}
