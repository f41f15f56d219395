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
	cmd := c.does("rebuild", "Rebuild the search index from the pastes", "search rebuild",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			if m.Search == nil {
				return nil, fault.New(fault.Invalid, "Search is off: GLUEPOT_SEARCH is false.")
			}
			shown := command.NewProgress(c.Stderr, "rebuild", -1, false)
			read, err := m.Search.Rebuild.Do(ctx, audit.Operator(), func(further int) { _ = shown.Add(further) })
			_ = shown.Finish()
			return said(map[string]int{"pastes": read}, "Indexed %s.\n", english.Plural(read, "paste", "")),
				interrupted(ctx, err)
		})
	cmd.Long = `Rebuild the search index from the pastes: after a time with GLUEPOT_SEARCH=false, or once PostgreSQL has the
extension pg_trgm. Servers may run meanwhile, and write. A rebuild that was interrupted starts again: run the same command.`
	cmd.RunE = Long(cmd.RunE)
	return Group("search", "Look after the search", cmd)
}
