package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

// Source is where the value of a setting came from.
type Source string

// The sources, in ascending order of precedence.
const (
	SourceDefault     Source = "default"
	SourceEnvironment Source = "environment"
	SourceFile        Source = "file" // named by a _FILE variable
	SourceFlag        Source = "flag"
)

// Setting is a setting with its effective value.
type Setting struct {
	Name   string `json:"name"`  // of its variable
	Value  string `json:"value"` // without secrets
	Source Source `json:"source"`
	Path   string `json:"path,omitempty"` // of the file, for SourceFile
}

// Settings returns the command that prints what read returns.
func (c *Commands) Settings(read func(*cobra.Command) ([]Setting, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Print every setting of the server, its value and where that came from", Args: Arguments(),
		Long: `Print every setting that 'gluepot serve' would have with the same flags and environment, its value and where that came from.
Of a database URL it prints what holds no password.`,
		Example: "  gluepot config\n  gluepot config --json --http-addr :80",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		settings, err := read(cmd)
		if err != nil {
			return err
		}
		view := func(s Setting) Setting { return s }
		return printList(c, *asJSON, all(settings), view, []string{"SETTING", "VALUE", "SOURCE"}, func(s Setting) []string {
			return []string{s.Name, command.Line(s.Value), strings.TrimSpace(string(s.Source) + " " + command.Line(s.Path))}
		})
	}
	return cmd
}
