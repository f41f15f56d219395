package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/audit"
)

// auditView is an act in JSON.
type auditView struct {
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Act    string    `json:"act"`
	Target string    `json:"target"`
	Reason string    `json:"reason"`
}

func (c *Commands) audit() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List what operators and administrators have done, newest first", Args: Arguments(),
		Example: "  gluepot audit list --limit 10",
	}
	limit := list.Flags().Int("limit", 50, "how many at most; 0 is all")
	asJSON := jsonFlag(list)
	list.RunE = c.run(func(ctx context.Context, m Modules, _ []string) error {
		each := func(visit func(audit.Entry) error) error {
			return m.Moderation.ListAudit.Do(ctx, audit.Entry{}, *limit, visit)
		}
		view := func(e audit.Entry) auditView { return auditView{e.At, e.Actor, e.Act, e.Target, e.Reason} }
		return printList(c, *asJSON, each, view, []string{"AT", "ACTOR", "ACT", "TARGET", "REASON"}, func(e audit.Entry) []string {
			return []string{moment(e.At), e.Actor, e.Act, line(e.Target), line(e.Reason)}
		})
	})
	return Group("audit", "Show what operators and administrators have done", list)
}
