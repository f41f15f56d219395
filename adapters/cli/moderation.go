package cli

import (
	"context"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/moderation"
)

func (c *Commands) userSuspend() *cobra.Command {
	cmd := ofUser(&cobra.Command{
		Use: "suspend USER", Short: "Refuse a user's tokens and sessions", Args: Arguments("USER"),
		Example: "  gluepot user suspend epoxy --reason spam --hide-pastes",
	})
	reason := cmd.Flags().String("reason", "", "why, for the audit log")
	hide := cmd.Flags().Bool("hide-pastes", false, "hide the user's pastes until the suspension ends")
	asJSON := jsonFlag(cmd)
	cmd.RunE = giving(reason, c.run(func(ctx context.Context, m Modules, args []string) error {
		suspended, hidden, err := m.Moderation.Suspend.Do(ctx, args[0], *reason, *hide)
		if err != nil {
			return err
		}
		return c.print(*asJSON, map[string]any{"suspended": suspended.ID, "hidden": hidden}, "Suspended the user %s%s.\n", suspended.Name,
			unlessNone(hidden, " and hid "+english.Plural(hidden, "paste", "")))
	}))
	return cmd
}

// giving checks the flag --reason before run.
func giving(reason *string, run RunE) RunE {
	return func(cmd *cobra.Command, args []string) error {
		if err := checkReason(*reason); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

func checkReason(reason string) error {
	if moderation.ValidateReason(reason) != nil {
		return Usage("--reason: give one line of at most %d bytes", moderation.MaxReason)
	}
	return nil
}

func (c *Commands) userUnsuspend() *cobra.Command {
	return ofUser(c.does("unsuspend USER", "End the suspension of a user, whose pastes are there again", "user unsuspend epoxy",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			back, shown, err := m.Moderation.Suspend.Undo(ctx, args[0])
			if err != nil {
				return err
			}
			return c.print(asJSON, map[string]any{"unsuspended": back.ID, "shown": shown}, "The user %s is no longer suspended%s.\n", back.Name,
				unlessNone(shown, ", and "+english.Plural(shown, "paste is", "pastes are")+" there again"))
		}))
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
	var expiresIn lifetime
	add := &cobra.Command{
		Use: "add NETWORK", Short: "Let a network read, and neither write nor sign in", Args: Arguments("NETWORK"),
		Example: "  gluepot block add 192.0.2.0/24 --expires-in 7d --reason spam",
	}
	reason := add.Flags().String("reason", "", "why, for the audit log")
	add.Flags().Var(&expiresIn, "expires-in", "how long: a time such as 12h, 7d or 2w (default for good)")
	addJSON := jsonFlag(add)
	add.RunE = giving(reason, c.run(func(ctx context.Context, m Modules, args []string) error {
		made, err := m.Moderation.Block.Do(ctx, args[0], *reason, time.Duration(expiresIn))
		if err != nil {
			return err
		}
		return c.print(*addJSON, blockRecord(made), "Blocked %s.\n", made.Network)
	}))
	list := c.does("list", "List the blocked networks", "block list",
		func(ctx context.Context, m Modules, _ []string, asJSON bool) error {
			blocks, err := m.Moderation.Block.All(ctx)
			if err != nil {
				return err
			}
			return printList(c, asJSON, all(blocks), blockRecord)
		})
	remove := c.does("remove NETWORK", "End a block", "block remove 192.0.2.0/24",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			network, err := m.Moderation.Block.Undo(ctx, args[0])
			if err != nil {
				return err
			}
			return c.print(asJSON, map[string]string{"unblocked": network.String()}, "%s is no longer blocked.\n", network)
		})
	return Group("block", "Keep networks from writing", add, list, remove)
}

func (c *Commands) report() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List readers' reports, oldest first", Args: Arguments(), Example: "  gluepot report list",
	}
	limit := list.Flags().Int("limit", 50, "how many at most; 0 is all")
	listJSON := jsonFlag(list)
	list.RunE = c.run(func(ctx context.Context, m Modules, _ []string) error {
		each := func(visit func(moderation.Report) error) error { return m.Moderation.Report.All(ctx, *limit, visit) }
		return printList(c, *listJSON, each, func(r moderation.Report) record {
			return record{
				{"id", "ID", r.ID}, {"paste", "PASTE", r.Paste}, {"at", "AT", r.At}, {"reason", "REASON", r.Reason}, {"text", "TEXT", r.Text},
			}
		})
	})
	closing := c.does("close ID...", "Close reports; removing a paste closes those of it", "report close k3j2h1g0-p4q5r6s7",
		func(ctx context.Context, m Modules, ids []string, asJSON bool) error {
			return c.each("report", asJSON, "closed", ids, false, func(id string) error { return m.Moderation.Report.Close(ctx, id) })
		})
	return Group("report", "List and close readers' reports", list, closing)
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
		return printList(c, *asJSON, each, func(e audit.Entry) record {
			return record{
				{"at", "AT", e.At}, {"actor", "ACTOR", e.Actor}, {"act", "ACT", e.Act}, {"target", "TARGET", e.Target}, {"reason", "REASON", e.Reason},
			}
		})
	})
	return Group("audit", "Show what operators and administrators have done", list)
}
