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
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

// finding are the flags that select pastes.
type finding struct {
	owner, since, until string
	larger              size
	limit               int
	filter              moderation.Filter
}

func (f *finding) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.owner, "owner", "", "of this `USER`")
	flags.BoolVar(&f.filter.Anonymous, "anonymous", false, "without an owner")
	flags.StringVar(&f.since, "since", "", "created since then: a `TIME` such as 24h or 7d ago, 2024-02-29 or 2024-02-29T12:30:00Z")
	flags.StringVar(&f.until, "until", "", "created before then: a `TIME` as for --since")
	flags.StringVar(&f.filter.Contains, "contains", "", "with this `TEXT` in the code of a pasty, letter by letter")
	flags.StringVar(&f.filter.Title, "title", "", "with this `TEXT` in the title, or in that of a pasty")
	flags.StringVar(&f.filter.Language, "language", "", "with a pasty in the language of this `NAME`")
	flags.BoolVar(&f.filter.Reported, "reported", false, "with an open report")
	flags.Var(&f.larger, "larger-than", "with more content and history than this `SIZE`, such as 500kB or 1MB")
}

// any reports whether a flag or an argument selects pastes.
func (f *finding) any(args []string) bool {
	return len(args) > 0 || f.owner != "" || f.since != "" || f.until != "" || f.larger > 0 || f.filter != (moderation.Filter{})
}

// complete parses the flags and the argument, if any. It refuses a flag with an empty value: a script with an unset variable would
// otherwise select all pastes.
func (f *finding) complete(cmd *cobra.Command, args []string, now time.Time) (err error) {
	if err := command.NoneEmpty(cmd, "owner", "since", "until", "contains", "title", "language"); err != nil {
		return err
	}
	if len(args) > 0 {
		if f.owner != "" {
			return Usage("a user is named twice")
		}
		f.owner = args[0]
	}
	f.filter.LargerThan = int64(f.larger)
	if f.filter.Since, err = instantOf("since", f.since, now); err != nil {
		return err
	}
	if f.filter.Until, err = instantOf("until", f.until, now); err != nil {
		return err
	}
	switch {
	case f.owner != "" && f.filter.Anonymous:
		return Usage("choose one of --owner and --anonymous")
	case f.filter.Removed && (f.filter.Contains != "" || f.filter.Language != "" || f.filter.Reported):
		return Usage("--removed does not go with --contains, --language and --reported: of removed pastes neither code nor reports are searched")
	}
	return nil
}

// foundRecord is a listed paste. Removed ones have more to show.
func (c *Commands) foundRecord(f moderation.Found, removed bool) record {
	shown := record{
		{"id", "ID", f.ID}, {"title", "TITLE", clipped(f.Title)}, {"ownerId", "", f.Owner}, {"owner", "OWNER", f.OwnerName},
		{"visibility", "VISIBILITY", f.Visibility}, {"bytes", "BYTES", f.Bytes}, {"createdAt", "CREATED", f.CreatedAt},
		{"expiresAt", "EXPIRES", f.ExpiresAt}, {"active", "", !removed && f.ActiveAt(c.now())},
	}
	if removed {
		shown = append(shown, record{{"removedAt", "REMOVED", f.RemovedAt}, {"removedBy", "BY", f.RemovedBy}, {"reason", "REASON", f.Reason}}...)
	}
	return shown
}

func (c *Commands) pasteList() *cobra.Command {
	var wanted finding
	cmd := ofUser(&cobra.Command{
		Use: "list [USER]", Short: "List pastes, newest first: those of a user, or of all", Args: Arguments("[USER]"),
		Example: "  gluepot paste list epoxy --json\n  gluepot paste list --anonymous --since 24h --contains casino\n" +
			"  gluepot paste list --removed",
	})
	wanted.add(cmd)
	cmd.Flags().BoolVar(&wanted.filter.Removed, "removed", false, "those that were removed and can be restored")
	cmd.Flags().IntVar(&wanted.limit, "limit", 50, "how many at most; 0 is all")
	asJSON := jsonFlag(cmd)
	run := c.run(func(ctx context.Context, m Modules, _ []string) error {
		each := func(visit func(moderation.Found) error) error {
			return m.Moderation.List.Do(ctx, wanted.owner, wanted.filter, paste.Place{}, wanted.limit, visit)
		}
		of := func(f moderation.Found) record { return c.foundRecord(f, wanted.filter.Removed) }
		return printList(c, *asJSON, each, of)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if wanted.limit < 0 {
			return Usage("--limit is negative")
		}
		if err := wanted.complete(cmd, args, c.now()); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

func (c *Commands) pasteRemove() *cobra.Command {
	var wanted finding
	cmd := &cobra.Command{
		Use: "remove [ID...]", Short: "Remove pastes for all readers, until they are restored or purged", Args: Arguments("[ID...]"),
		Long: "Remove pastes: those with these ids, or all that the flags describe, which are counted first. The page of one that everybody\n" +
			"could read says that it was removed; its content can be restored for GLUEPOT_REMOVED_RETENTION.",
		Example: "  gluepot paste remove k3j2h1g0 p4q5r6s7 --reason 'malware'\n" +
			"  gluepot paste remove --owner epoxy --since 24h --reason 'spam' --yes",
	}
	wanted.add(cmd)
	addIdentity(cmd)
	reason := cmd.Flags().String("reason", "", "why, for the audit log")
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	asJSON := jsonFlag(cmd)
	run := c.run(func(ctx context.Context, m Modules, ids []string) error {
		if len(ids) == 0 {
			err := m.Moderation.List.Do(ctx, wanted.owner, wanted.filter, paste.Place{}, 0, func(f moderation.Found) error {
				ids = append(ids, string(f.ID))
				return nil
			})
			if err != nil {
				return err
			}
			question := "Remove " + english.Plural(len(ids), "paste", "") + "? [y/N] "
			if !*yes && len(ids) > 0 && !command.Confirm(c.stdin, c.stderr, question) {
				return fault.New(fault.Invalid, "Nothing was removed: answer y, or give --yes.")
			}
		}
		remove := func(id string) error { return m.Moderation.Remove.Do(ctx, id, *reason) }
		return c.each("paste", *asJSON, "removed", ids, wanted.any(nil), remove)
	})
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		switch {
		case (wanted.any(nil) || cmd.Flags().Changed(identityFlag)) == (len(ids) > 0):
			return Usage("give either ids or flags that describe pastes. See '%s --help'", cmd.CommandPath())
		}
		if err := checkReason(*reason); err != nil {
			return err
		}
		if err := wanted.complete(cmd, nil, c.now()); err != nil {
			return err
		}
		return run(cmd, ids)
	}
	return cmd
}

// each acts on each thing of a kind. With mayGo, it skips missing ones, as they may have been removed since they were listed.
func (c *Commands) each(kind string, asJSON bool, done string, ids []string, mayGo bool, do func(id string) error) error {
	var failures []error
	count, verb := 0, strings.ToUpper(done[:1])+done[1:]
	for _, id := range ids {
		err := do(id)
		switch {
		case fault.Is(err, fault.NotFound) && mayGo:
			continue
		case fault.Is(err, fault.NotFound):
			failures = append(failures, fault.New(fault.NotFound, Quote(id)+": "+fault.MessageOf(err)))
			continue
		case err != nil:
			return err
		}
		count++
		if mayGo && !asJSON { // one line says it for all of them
			continue
		}
		if err := c.print(asJSON, map[string]string{done: id}, "%s the %s %s.\n", verb, kind, id); err != nil {
			return err
		}
	}
	if mayGo && !asJSON {
		if _, err := fmt.Fprintf(c.stdout, "%s %s.\n", verb, english.Plural(count, kind, "")); err != nil {
			return err
		}
	}
	return errors.Join(failures...)
}

func (c *Commands) pasteRestore() *cobra.Command {
	cmd := c.does("restore ID...", "Give removed pastes back", "paste restore k3j2h1g0",
		func(ctx context.Context, m Modules, ids []string, asJSON bool) error {
			return c.each("paste", asJSON, "restored", ids, false, func(id string) error {
				if err := m.Moderation.Remove.Undo(ctx, id); err != nil {
					return err
				}
				_, err := m.Pastes.Show.Do(ctx, id)
				if fault.Is(err, fault.NotFound) {
					_, err = fmt.Fprintf(c.stderr, "The paste %s stays hidden until its owner is unsuspended.\n", id)
				}
				return err
			})
		})
	cmd.Long = cmd.Short + ". Those of a user whose pastes are hidden are hidden, too, until the user is unsuspended."
	return cmd
}

func (c *Commands) pasteDelete() *cobra.Command {
	return c.does("delete ID...", "Delete pastes for good", "paste delete k3j2h1g0 p4q5r6s7",
		func(ctx context.Context, m Modules, ids []string, asJSON bool) error {
			return c.each("paste", asJSON, "deleted", ids, false, func(id string) error { return m.Pastes.Delete.Do(ctx, id) })
		})
}
