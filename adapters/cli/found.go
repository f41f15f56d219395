package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/adapters/internal/quantity"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

// finding are the flags that select pastes.
type finding struct {
	owner  string
	filter moderation.Filter
}

func (f *finding) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.owner, "owner", "", "of this `USER`")
	flags.BoolVar(&f.filter.Anonymous, "anonymous", false, "without an owner")
	flags.Func("since", "created since then: a `TIME` such as 24h or 7d ago, 2024-02-29 or 2024-02-29T12:30:00Z",
		parsed(&f.filter.Since, quantity.Instant))
	flags.Func("until", "created before then: a `TIME` as for --since", parsed(&f.filter.Until, quantity.Instant))
	flags.StringVar(&f.filter.Contains, "contains", "", "with this `TEXT` in the code of a pasty, letter by letter")
	flags.StringVar(&f.filter.Title, "title", "", "with this `TEXT` in the title, or in that of a pasty")
	flags.StringVar(&f.filter.Language, "language", "", "with a pasty in the language of this `NAME`, alias or extension")
	flags.BoolVar(&f.filter.Reported, "reported", false, "with an open report")
	flags.Func(
		"larger-than",
		"with more content and history than this `SIZE`, such as 500kB or 1MB",
		parsed(&f.filter.LargerThan, quantity.Size),
	)
	cmd.MarkFlagsMutuallyExclusive("owner", "anonymous")
}

// emptySelectsAll are flags whose value may not be empty: a script with an unset variable would select all pastes.
var emptySelectsAll = []string{"owner", "contains", "title", "language"}

// any reports whether a flag selects pastes.
func (f *finding) any() bool { return f.owner != "" || f.filter != (moderation.Filter{}) }

// foundRecord is a listed paste. Removed ones have more to show.
func foundRecord(f moderation.Paste, removed bool) record {
	shown := record{
		{"id", "ID", f.ID}, {"title", "", f.Title}, {"label", "TITLE", clipped(f.Label())}, {"ownerId", "", f.Owner},
		{"owner", "OWNER", f.OwnerName}, {"ownerSuspended", "", f.Suspended},
		{"visibility", "VISIBILITY", f.Visibility}, {"bytes", "BYTES", f.Bytes}, {"createdAt", "CREATED", f.CreatedAt},
		{"expiresAt", "EXPIRES", f.ExpiresAt}, {"active", "", !removed && f.ActiveAt(time.Now())},
	}
	if removed {
		shown = append(shown, record{{"removedAt", "REMOVED", f.RemovedAt}, {"removedBy", "BY", f.RemovedBy},
			{"reason", "REASON", f.Reason}}...)
	}
	return shown
}

func (c *Commands) pasteList() *cobra.Command {
	var (
		wanted finding
		limit  uint
	)
	cmd := c.does("list [USER]", "List pastes, newest first: those of a user, or of all",
		"paste list epoxy --json\npaste list --anonymous --since 24h --contains casino\npaste list --removed",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			each := func(visit func(moderation.Paste) error) error {
				return m.Moderation.List.Do(ctx, audit.Operator(), wanted.owner, wanted.filter, paste.Cursor{}, int(limit), visit)
			}
			return listed(each, func(f moderation.Paste) record { return foundRecord(f, wanted.filter.Removed) }), nil
		})
	wanted.add(cmd)
	cmd.Flags().BoolVar(&wanted.filter.Removed, "removed", false, "those that were removed and can be restored")
	cmd.MarkFlagsMutuallyExclusive("removed", "reported") // removing a paste closes its reports
	cmd.Flags().UintVar(&limit, "limit", 50, "how many at most; 0 is all")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			if wanted.owner != "" || wanted.filter.Anonymous {
				return Usage("name one user, or give --anonymous")
			}
			wanted.owner = args[0]
		}
		return command.NoneEmpty(cmd, emptySelectsAll...)
	}
	return ofUser(cmd)
}

func (c *Commands) pasteRemove() *cobra.Command {
	var (
		wanted finding
		reason string
		yes    bool
	)
	cmd := c.does("remove [ID...]", "Remove pastes for all readers, until they are restored or purged",
		"paste remove k3j2h1g0 p4q5r6s7 --reason 'malware'\npaste remove --owner epoxy --since 24h --reason 'spam' --yes",
		func(ctx context.Context, m Modules, ids []string) (output, error) {
			if len(ids) == 0 {
				err := m.Moderation.List.Do(ctx, audit.Operator(), wanted.owner, wanted.filter, paste.Cursor{}, 0,
					func(f moderation.Paste) error {
						ids = append(ids, string(f.ID))
						return nil
					})
				if err == nil {
					err = c.confirm(yes || len(ids) == 0, "Remove "+english.Plural(len(ids), "paste", "")+"?", "removed")
				}
				if err != nil {
					return nil, err
				}
			}
			remove := func(id string) error { return m.Moderation.Remove.Do(ctx, audit.Operator(), id, reason) }
			return nil, c.each("paste", "removed", ids, wanted.any(), remove)
		})
	cmd.Long = `Remove pastes: those with these ids, or all that the flags describe, which are counted first. The page of one that everybody
could read says that it was removed; its content can be restored for GLUEPOT_REMOVED_RETENTION.`
	wanted.add(cmd)
	addIdentity(cmd)
	reasonFlag(cmd, &reason)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.PreRunE = func(cmd *cobra.Command, ids []string) error {
		if (wanted.any() || cmd.Flags().Changed(identityFlag)) == (len(ids) > 0) {
			return Usage("give either ids or flags that describe pastes. See '%s --help'", cmd.CommandPath())
		}
		return command.NoneEmpty(cmd, emptySelectsAll...)
	}
	return cmd
}

// each acts on each thing of a kind. With mayGo, it skips missing ones, as they may have been removed since they were
// listed.
func (c *Commands) each(kind, done string, ids []string, mayGo bool, do func(id string) error) error {
	var failures []error
	count, verb := 0, strings.ToUpper(done[:1])+done[1:]
	for _, id := range ids {
		err := do(id)
		if fault.Is(err, fault.NotFound) {
			if !mayGo {
				failures = append(failures, fault.New(fault.NotFound, Quote(id)+": "+fault.MessageOf(err)))
			}
			continue
		}
		if err != nil {
			failures = append(failures, err)
			break
		}
		count++
		if !mayGo || c.json {
			if err := said(map[string]string{done: id}, "%s the %s %s.\n", verb, kind, id)(c); err != nil {
				return err
			}
		}
	}
	if mayGo && !c.json { // one line says it for all of them
		_, err := fmt.Fprintf(c.Stdout, "%s %s.\n", verb, english.Plural(count, kind, ""))
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

func (c *Commands) pasteRestore() *cobra.Command {
	cmd := c.does("restore ID...", "Give removed pastes back", "paste restore k3j2h1g0",
		func(ctx context.Context, m Modules, ids []string) (output, error) {
			return nil, c.each("paste", "restored", ids, false, func(id string) error {
				if err := m.Moderation.Remove.Undo(ctx, audit.Operator(), id); err != nil {
					return err
				}
				_, err := m.Pastes.Show.Do(ctx, id)
				if fault.Is(err, fault.NotFound) {
					_, err = fmt.Fprintf(c.Stderr, "The paste %s stays hidden until its owner is unsuspended.\n", id)
				}
				return err
			})
		})
	cmd.Long = cmd.Short + ". Those of a user whose pastes are hidden are hidden, too, until the user is unsuspended."
	return cmd
}
