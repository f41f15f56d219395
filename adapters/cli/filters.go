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

// pasteFilters are the flags that select pastes.
type pasteFilters struct {
	moderation.Filter

	owner string
}

func (f *pasteFilters) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.owner, "owner", "", "pastes of this `USER`")
	flags.BoolVar(&f.Anonymous, "anonymous", false, "pastes without an owner")
	flags.Func("since", "created since a `TIME`: 24h or 7d ago, 2024-02-29 or 2024-02-29T12:30:00Z",
		setter(&f.Since, quantity.Instant))
	flags.Func("until", "created before a `TIME` as in --since", setter(&f.Until, quantity.Instant))
	flags.StringVar(&f.Contains, "contains", "", "with exactly this `TEXT` in the code of a pasty")
	flags.StringVar(&f.Title, "title", "", "with this `TEXT` in the title of the paste or of a pasty")
	flags.StringVar(&f.Language, "language", "", "with a pasty in the language of this `NAME`, alias or extension")
	flags.BoolVar(&f.Reported, "reported", false, "with an open report")
	flags.Func("larger-than", "with more content and history than this `SIZE`, such as 500kB or 1MB",
		setter(&f.LargerThan, quantity.Size))
	cmd.MarkFlagsMutuallyExclusive("owner", "anonymous")
}

// emptySelectsAll lists flags whose value must not be empty: a script with an unset variable would select all pastes.
var emptySelectsAll = []string{"owner", "contains", "title", "language"}

// any reports whether a flag selects pastes.
func (f *pasteFilters) any() bool { return f.owner != "" || f.Filter != (moderation.Filter{}) }

// pasteRecord is a row of the list. Removed pastes have more columns.
func pasteRecord(f moderation.Paste, removed bool) record {
	fields := record{
		{"id", "ID", f.ID}, {"title", "", f.Title}, {"label", "TITLE", clipped(f.Label())},
		{"ownerId", "", f.Owner}, {"owner", "OWNER", f.OwnerName}, {"ownerSuspended", "", f.Suspended},
		{"visibility", "VISIBILITY", f.Visibility}, {"bytes", "BYTES", f.Bytes},
		{"createdAt", "CREATED", f.CreatedAt}, {"expiresAt", "EXPIRES", f.ExpiresAt},
		{"active", "", !removed && f.ActiveAt(time.Now())},
	}
	if removed {
		fields = append(fields,
			field{"removedAt", "REMOVED", f.RemovedAt}, field{"removedBy", "BY", f.RemovedBy},
			field{"reason", "REASON", f.Reason})
	}
	return fields
}

func (c *Commands) pasteList() *cobra.Command {
	var (
		filters pasteFilters
		limit   uint
	)
	cmd := c.newCommand("list [USER]", "List pastes of one user or of all, newest first",
		"paste list epoxy --json\npaste list --anonymous --since 24h --contains casino\npaste list --removed",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			each := func(visit func(moderation.Paste) error) error {
				return m.Moderation.List.Do(ctx, audit.Operator(),
					filters.owner, filters.Filter, paste.Cursor{}, int(limit), visit)
			}
			return listOutput(each, func(f moderation.Paste) record { return pasteRecord(f, filters.Removed) }), nil
		})
	filters.add(cmd)
	cmd.Flags().BoolVar(&filters.Removed, "removed", false, "pastes that were removed and can be restored")
	cmd.MarkFlagsMutuallyExclusive("removed", "reported") // removing a paste closes its reports
	cmd.Flags().UintVar(&limit, "limit", 50, "at most this many; 0 is all")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			if filters.owner != "" || filters.Anonymous {
				return Usage("name one user, or give --anonymous")
			}
			filters.owner = args[0]
		}
		return command.NoneEmpty(cmd, emptySelectsAll...)
	}
	return withUser(cmd)
}

func (c *Commands) pasteRemove() *cobra.Command {
	var (
		filters pasteFilters
		reason  string
		yes     bool
	)
	cmd := c.newCommand("remove [ID...]", "Remove pastes for all readers, until they are restored or purged",
		"paste remove k3j2h1g0 p4q5r6s7 --reason 'malware'\npaste remove --owner epoxy --since 24h --reason 'spam' --yes",
		func(ctx context.Context, m Modules, ids []string) (output, error) {
			if len(ids) == 0 {
				err := m.Moderation.List.Do(ctx, audit.Operator(), filters.owner, filters.Filter, paste.Cursor{}, 0,
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
			return nil, c.each("paste", "removed", ids, filters.any(), remove)
		})
	cmd.Long = `Remove the pastes with these ids, or all that match the flags, which are counted first. If
everybody could read a paste, its page says that it was removed. Its content can be restored for
GLUEPOT_REMOVED_RETENTION.`
	filters.add(cmd)
	addIdentity(cmd)
	reasonFlag(cmd, &reason)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.PreRunE = func(cmd *cobra.Command, ids []string) error {
		if (filters.any() || cmd.Flags().Changed(identityFlag)) == (len(ids) > 0) {
			return Usage("give either ids or flags that describe pastes. See '%s --help'", cmd.CommandPath())
		}
		return command.NoneEmpty(cmd, emptySelectsAll...)
	}
	return cmd
}

// each acts on each thing of a kind. With mayGo, it skips missing ones, which may have been removed since they were
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
			if err := textOutput(map[string]string{done: id}, "%s the %s %s.\n", verb, kind, id)(c); err != nil {
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
	cmd := c.newCommand("restore ID...", "Restore removed pastes", "paste restore k3j2h1g0",
		func(ctx context.Context, m Modules, ids []string) (output, error) {
			return nil, c.each("paste", "restored", ids, false, func(id string) error {
				if err := m.Moderation.Remove.Undo(ctx, audit.Operator(), id); err != nil {
					return err
				}
				_, err := m.Pastes.Show.Do(ctx, audit.Operator(), id)
				if fault.Is(err, fault.NotFound) {
					_, err = fmt.Fprintf(c.Stderr, "The paste %s stays hidden until its owner is unsuspended.\n", id)
				}
				return err
			})
		})
	cmd.Long = cmd.Short + ". If the pastes of their owner are hidden, they stay hidden until the user is unsuspended."
	return cmd
}
