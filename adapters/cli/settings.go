package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

// Source is where the value of a setting comes from.
type Source string

// The sources, in ascending order of precedence.
const (
	FromDefault  Source = "default"
	FromFile     Source = "file" // the file that a variable GLUEPOT_…_FILE names
	FromVariable Source = "variable"
	FromFlag     Source = "flag"
)

// Setting is a setting with its value.
type Setting struct {
	Name  string // of its variable
	Value string // without secrets
	From  Source
	Path  string // of the file, for FromFile
}

// Settings returns the command that prints what read returns.
func (c *Commands) Settings(read func(*cobra.Command) ([]Setting, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Print each setting of the server, its value, and where that comes from",
		Long: `Print each setting that 'gluepot serve' would have with the same flags and environment, its value, and where
that comes from: a flag, a variable, a file that a variable names, or the default. Secrets are not printed. If
settings are wrong, it names all of them and exits with 2.`,
		Example: "  gluepot config\n  gluepot config --json --http-addr :80",
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "write JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		settings, err := read(cmd)
		if err != nil {
			return err
		}
		return listOutput(all(settings), func(s Setting) record {
			from := strings.TrimSpace(string(s.From) + " " + command.Line(s.Path))
			fields := record{{"name", "SETTING", s.Name}, {"value", "VALUE", s.Value}, {"from", "FROM", from}}
			if c.json {
				fields[2].value = s.From
			}
			if s.Path != "" {
				fields = append(fields, field{"path", "", s.Path})
			}
			return fields
		})(c)
	}
	return cmd
}
