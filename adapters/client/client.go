// Package client has the commands that create and read pastes on a server, over its HTTP interface.
package client

import (
	"io"

	"github.com/spf13/cobra"
)

// These variables override what login stores.
const (
	EnvServer = "GLUEPOT_SERVER"
	EnvToken  = "GLUEPOT_TOKEN"
)

// Commands are the commands for people who use a server. They write results to Stdout and everything else to Stderr.
type Commands struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// All returns all commands.
func (c *Commands) All() []*cobra.Command {
	return []*cobra.Command{c.push(), c.pull(), c.list(), c.find(), c.star(), c.drop(), c.login(), c.logout()}
}

// serverFlag adds the flag that names a server.
func serverFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("server", "",
		"`URL` of the server (default $"+EnvServer+", or the server you last logged in to)")
}
