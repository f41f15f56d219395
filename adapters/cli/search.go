package cli

import (
	"context"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
)

func (c *Commands) search() *cobra.Command {
	cmd := c.newCommand("rebuild", "Rebuild the search index from the pastes", "search rebuild",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			if m.Search == nil {
				return nil, fault.New(fault.Invalid, "Search is off: GLUEPOT_SEARCH is false.")
			}
			progress := command.NewProgress(c.Stderr, "rebuild", -1, false)
			read, err := m.Search.Rebuild.Do(ctx, audit.Operator(), func(further int) { _ = progress.Add(further) })
			_ = progress.Finish()
			return textOutput(map[string]int{"pastes": read}, "Indexed %s.\n", english.Plural(read, "paste", "")),
				explainInterrupt(ctx, err)
		})
	cmd.Long = `Rebuild the search index from the pastes. Do so after running with GLUEPOT_SEARCH=false, or once
PostgreSQL has the extension pg_trgm. Servers may run and write at the same time. If a rebuild is interrupted, run the
same command again: it starts from the beginning.`
	cmd.RunE = Long(cmd.RunE)
	return Group("search", "Maintain the search index", cmd)
}
