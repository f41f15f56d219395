package cli

import (
	"context"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/quantity"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/moderation"
)

// suspensions are commands of user.
func (c *Commands) suspensions() []*cobra.Command {
	var (
		reason string
		hide   bool
	)
	suspend := withUser(c.newCommand("suspend USER", "Refuse a user's tokens and sessions",
		"user suspend epoxy --reason spam --hide-pastes",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			suspended, hidden, err := m.Moderation.Suspend.Do(ctx, audit.Operator(), args[0], reason, hide)
			return textOutput(map[string]any{"suspended": suspended.ID, "hidden": hidden},
				"Suspended the user %s%s.\n", suspended.Name,
				ifAny(hidden, " and hid "+english.Plural(hidden, "paste", "")),
			), explainInterrupt(ctx, err)
		}))
	suspend.RunE = Long(suspend.RunE)
	reasonFlag(suspend, &reason)
	suspend.Flags().BoolVar(&hide, "hide-pastes", false, "hide the user's pastes until the suspension ends")
	unsuspend := withUser(c.newCommand("unsuspend USER", "End the suspension of a user, and show the user's pastes again",
		"user unsuspend epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			unsuspended, pastes, err := m.Moderation.Suspend.Undo(ctx, audit.Operator(), args[0])
			return textOutput(map[string]any{"unsuspended": unsuspended.ID, "shown": pastes},
				"The user %s is no longer suspended%s.\n", unsuspended.Name,
				ifAny(pastes, ", and "+english.Plural(pastes, "paste is", "pastes are")+" there again"),
			), explainInterrupt(ctx, err)
		}))
	unsuspend.RunE = Long(unsuspend.RunE)
	return []*cobra.Command{suspend, unsuspend}
}

func ifAny(n int, text string) string {
	if n == 0 {
		return ""
	}
	return text
}

func blockRecord(b moderation.Block) record {
	return record{
		{"network", "NETWORK", b.Network}, {"createdAt", "CREATED", b.CreatedAt}, {"expiresAt", "EXPIRES", b.ExpiresAt},
		{"reason", "REASON", b.Reason},
	}
}

func (c *Commands) block() *cobra.Command {
	var (
		reason    string
		expiresIn time.Duration
	)
	add := c.newCommand("add NETWORK", "Block a network from writing and signing in; it can still read",
		"block add 192.0.2.0/24 --expires-in 7d --reason spam",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			block, err := m.Moderation.Block.Do(ctx, audit.Operator(), args[0], reason, expiresIn)
			return textOutput(blockRecord(block), "Blocked %s.\n", block.Network), err
		})
	reasonFlag(add, &reason)
	add.Flags().Func("expires-in", "how long it lasts: a `TIME` such as 12h, 7d or 2w (default forever)",
		setter(&expiresIn, quantity.Duration))
	list := c.newCommand("list", "List the blocked networks", "block list",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			blocks, err := m.Moderation.Block.All(ctx, audit.Operator())
			return listOutput(all(blocks), blockRecord), err
		})
	remove := c.newCommand("remove NETWORK", "End a block", "block remove 192.0.2.0/24",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			network, err := m.Moderation.Block.Undo(ctx, audit.Operator(), args[0])
			return textOutput(map[string]string{"unblocked": network.String()}, "%s is no longer blocked.\n", network), err
		})
	return Group("block", "Block networks from writing", add, list, remove)
}

func (c *Commands) report() *cobra.Command {
	var limit uint
	list := c.newCommand("list", "List readers' reports, oldest first", "report list",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			each := func(visit func(moderation.Report) error) error {
				return m.Moderation.Report.All(ctx, audit.Operator(), int(limit), visit)
			}
			return listOutput(each, func(r moderation.Report) record {
				return record{
					{"id", "ID", r.ID}, {"paste", "PASTE", r.Paste}, {"at", "AT", r.At}, {"reason", "REASON", r.Reason},
					{"text", "TEXT", r.Text},
				}
			}), nil
		})
	list.Flags().UintVar(&limit, "limit", 50, "at most this many; 0 is all")
	closeReports := c.newCommand("close ID...", "Close reports; removing a paste closes its reports",
		"report close k3j2h1g0-p4q5r6s7",
		func(ctx context.Context, m Modules, ids []string) (output, error) {
			return nil, c.each("report", "closed", ids, false, func(id string) error {
				return m.Moderation.Report.Close(ctx, audit.Operator(), id)
			})
		})
	return Group("report", "List and close readers' reports", list, closeReports)
}

func (c *Commands) audit() *cobra.Command {
	var limit uint
	list := c.newCommand("list", "List what operators and administrators did, newest first", "audit list --limit 10",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			each := func(visit func(auditlog.Entry) error) error {
				return m.Moderation.ListAudit.Do(ctx, audit.Operator(), auditlog.Entry{}, int(limit), visit)
			}
			return listOutput(each, func(e auditlog.Entry) record {
				return record{
					{"at", "AT", e.At}, {"actor", "ACTOR", e.Actor}, {"act", "ACT", e.Act}, {"target", "TARGET", e.Target},
					{"reason", "REASON", e.Reason},
				}
			}), nil
		})
	list.Flags().UintVar(&limit, "limit", 50, "at most this many; 0 is all")
	return Group("audit", "Show what operators and administrators did", list)
}
