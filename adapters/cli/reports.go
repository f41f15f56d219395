package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/moderation"
)

// reportView is a report in JSON.
type reportView struct {
	ID     string    `json:"id"`
	Paste  string    `json:"paste"`
	Reason string    `json:"reason"`
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}

func (c *Commands) report() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List what readers say against pastes, oldest first", Args: Arguments(), Example: "  gluepot report list",
	}
	limit := list.Flags().Int("limit", 50, "how many at most; 0 is all")
	listJSON := jsonFlag(list)
	list.RunE = c.run(func(ctx context.Context, m Modules, _ []string) error {
		each := func(visit func(moderation.Report) error) error { return m.Moderation.Report.All(ctx, *limit, visit) }
		view := func(r moderation.Report) reportView { return reportView{r.ID, string(r.Paste), r.Reason, r.Text, r.At} }
		return printList(c, *listJSON, each, view, []string{"ID", "PASTE", "AT", "REASON", "TEXT"}, func(r moderation.Report) []string {
			return []string{r.ID, string(r.Paste), moment(r.At), r.Reason, line(r.Text)}
		})
	})
	closing := c.does("close ID...", "Close reports; removing a paste closes those of it", "report close k3j2h1g0-p4q5r6s7",
		func(ctx context.Context, m Modules, ids []string, asJSON bool) error {
			return c.each("report", asJSON, "closed", ids, false, func(id string) error { return m.Moderation.Report.Close(ctx, id) })
		})
	return Group("report", "Show and close what readers say against pastes", list, closing)
}
