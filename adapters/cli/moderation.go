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
	suspend := ofUser(c.does("suspend USER", "Refuse a user's tokens and sessions",
		"user suspend epoxy --reason spam --hide-pastes",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			suspended, hidden, err := m.Moderation.Suspend.Do(ctx, audit.Operator(), args[0], reason, hide)
			return said(map[string]any{"suspended": suspended.ID, "hidden": hidden}, "Suspended the user %s%s.\n",
				suspended.Name,
				unlessNone(hidden, " and hid "+english.Plural(hidden, "paste", ""))), interrupted(ctx, err)
		}))
	suspend.RunE = Long(suspend.RunE)
	reasonFlag(suspend, &reason)
	suspend.Flags().BoolVar(&hide, "hide-pastes", false, "hide the user's pastes until the suspension ends")
	unsuspend := ofUser(c.does("unsuspend USER", "End the suspension of a user, and show the user's pastes again",
		"user unsuspend epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			back, shown, err := m.Moderation.Suspend.Undo(ctx, audit.Operator(), args[0])
			return said(map[string]any{"unsuspended": back.ID, "shown": shown},
				"The user %s is no longer suspended%s.\n", back.Name,
				unlessNone(shown, ", and "+english.Plural(shown, "paste is", "pastes are")+" there again")), interrupted(ctx, err)
		}))
	unsuspend.RunE = Long(unsuspend.RunE)
	return []*cobra.Command{suspend, unsuspend}
}

func unlessNone(n int, text string) string {
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
	add := c.does("add NETWORK", "Keep a network from writing and signing in; it can still read",
		"block add 192.0.2.0/24 --expires-in 7d --reason spam",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			made, err := m.Moderation.Block.Do(ctx, audit.Operator(), args[0], reason, expiresIn)
			return said(blockRecord(made), "Blocked %s.\n", made.Network), err
		})
	reasonFlag(add, &reason)
	add.Flags().Func("expires-in", "how long: a `TIME` such as 12h, 7d or 2w (default for good)",
		parsed(&expiresIn, quantity.Duration))
	list := c.does("list", "List the blocked networks", "block list",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			blocks, err := m.Moderation.Block.All(ctx, audit.Operator())
			return listed(all(blocks), blockRecord), err
		})
	remove := c.does("remove NETWORK", "End a block", "block remove 192.0.2.0/24",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			network, err := m.Moderation.Block.Undo(ctx, audit.Operator(), args[0])
			return said(map[string]string{"unblocked": network.String()}, "%s is no longer blocked.\n", network), err
		})
	return Group("block", "Keep networks from writing", add, list, remove)
}

func (c *Commands) report() *cobra.Command {
	var limit uint
	list := c.does("list", "List readers' reports, oldest first", "report list",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			each := func(visit func(moderation.Report) error) error {
				return m.Moderation.Report.All(ctx, audit.Operator(), int(limit), visit)
			}
			return listed(each, func(r moderation.Report) record {
				return record{
					{"id", "ID", r.ID}, {"paste", "PASTE", r.Paste}, {"at", "AT", r.At}, {"reason", "REASON", r.Reason},
					{"text", "TEXT", r.Text},
				}
			}), nil
		})
	list.Flags().UintVar(&limit, "limit", 50, "how many at most; 0 is all")
	closing := c.does("close ID...", "Close reports; removing a paste closes its reports",
		"report close k3j2h1g0-p4q5r6s7",
		func(ctx context.Context, m Modules, ids []string) (output, error) {
			return nil, c.each("report", "closed", ids, false, func(id string) error {
				return m.Moderation.Report.Close(ctx, audit.Operator(), id)
			})
		})
	return Group("report", "List and close readers' reports", list, closing)
}

func (c *Commands) audit() *cobra.Command {
	var limit uint
	list := c.does("list", "List what operators and administrators have done, newest first", "audit list --limit 10",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			each := func(visit func(auditlog.Entry) error) error {
				return m.Moderation.ListAudit.Do(ctx, audit.Operator(), auditlog.Entry{}, int(limit), visit)
			}
			return listed(each, func(e auditlog.Entry) record {
				return record{
					{"at", "AT", e.At}, {"actor", "ACTOR", e.Actor}, {"act", "ACT", e.Act}, {"target", "TARGET", e.Target},
					{"reason", "REASON", e.Reason},
				}
			}), nil
		})
	list.Flags().UintVar(&limit, "limit", 50, "how many at most; 0 is all")
	return Group("audit", "Show what operators and administrators have done", list)
}
