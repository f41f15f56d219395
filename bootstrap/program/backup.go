package program

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/cli"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/sqlitefile"
)

func backupCommand(cfg *config, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Back up the embedded database to a file, while it is in use", Args: fileArgument,
		Long: `Write a snapshot of the embedded database (SQLite) to a new file, while servers read and write the
database. The snapshot is a compact database that only its owner can read. It appears under its name once it is complete
and on disk. An existing file is not overwritten. For PostgreSQL, use pg_dump.

With --keep, FILE is a folder. The snapshot gets a dated name there, and the oldest snapshots beyond that number are
removed. Only snapshots of the same database with such names are removed.`,
		Example: "  gluepot backup /var/backups/gluepot.db\n  gluepot backup --keep 7 /var/backups/gluepot\n" +
			"  gluepot restore /var/backups/gluepot/gluepot-20240229T040000.000Z.db",
	}
	keep := cmd.Flags().Int("keep", 0, "`number` of backups to keep in the folder")
	run := withStore(cfg, func(ctx context.Context, store *gormstore.Store, args []string) error {
		if !cmd.Flags().Changed("keep") {
			if err := store.Backup(ctx, args[0]); err != nil {
				return causeOr(ctx, err)
			}
			_, err := fmt.Fprintf(stdout, "The database is backed up to %s.\n", args[0])
			return err
		}
		path, removed, err := store.BackupDated(ctx, args[0], *keep)
		text := ""
		if path != "" {
			text = fmt.Sprintf("The database is backed up to %s.\n", path)
		}
		for _, old := range removed {
			text += fmt.Sprintf("Removed %s.\n", old)
		}
		_, writeErr := io.WriteString(stdout, text)
		if err != nil {
			return causeOr(ctx, err)
		}
		return writeErr
	})
	cmd.RunE = cli.Long(func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("keep") && *keep < 1 {
			return cli.Usage("--keep is %d: it must be at least 1", *keep)
		}
		return run(cmd, args)
	})
	return cmd
}

func restoreCommand(cfg *config, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Restore the embedded database from a backup", Args: fileArgument,
		Long: `Restore the embedded database (SQLite) from a file that 'gluepot backup' has written. A copy of the file
becomes the database, if it is undamaged and of a version that this program supports.

With --replace, an existing database is kept beside the new one, under its name and the time. No server may have it
open. The new database gets its owner, group and mode. What was deleted, removed or revoked since the backup stays so:
pastes, users, tokens, sessions, invitations, linked accounts, and pastes that were made anonymous or private. With
--with-deleted, it comes back.`,
		Example: "  gluepot restore /var/backups/gluepot-2024-02-29.db\n" +
			"  gluepot restore --replace /var/backups/gluepot-2024-02-29.db",
	}
	var replacement sqlitefile.Replacement
	cmd.Flags().BoolVar(&replacement.Replace, "replace", false,
		"replace an existing database, which is kept beside the new one")
	cmd.Flags().BoolVar(&replacement.WithDeleted, "with-deleted", false,
		"bring back what was deleted, removed or revoked in the replaced database since the backup")
	cmd.RunE = cli.Long(func(cmd *cobra.Command, args []string) error {
		if err := configure(cmd, cfg); err != nil {
			return err
		}
		ctx := cmd.Context()
		result, err := db.Restore(ctx, cfg.Database, args[0], replacement)
		if err != nil {
			return causeOr(ctx, err)
		}
		text := fmt.Sprintf("The database %s is restored from %s.\n", gormstore.URL(cfg.Database.URL), args[0])
		if len(result.Undone) > 0 {
			text += fmt.Sprintf("What was deleted, removed or revoked since the backup stays so: %s.\n",
				listUndone(result.Undone))
		}
		if result.Previous != "" {
			text += fmt.Sprintf("The old database is kept at %s.\n", result.Previous)
		}
		if result.Version < result.Latest {
			text += fmt.Sprintf("It is at version %d of %d: 'gluepot migrate up' or a server migrates it.\n",
				result.Version, result.Latest)
		}
		_, err = io.WriteString(stdout, text)
		return err
	})
	return cmd
}

// listUndone returns text such as "pastes: 7, users: 1".
func listUndone(counts []sqlitefile.Undone) string {
	parts := make([]string, len(counts))
	for i, u := range counts {
		parts[i] = fmt.Sprintf("%s: %d", u.What, u.Rows)
	}
	return strings.Join(parts, ", ")
}

func compactCommand(cfg *config, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "compact", Short: "Shrink the file of the embedded database to its content",
		Long: `Shrink the file of the embedded database (SQLite) to its content, after much was deleted. Servers may
run: they keep reading, and their writes wait for at most GLUEPOT_DATABASE_CONNECT_TIMEOUT. The disk needs as much free
space as the file takes.`,
		Example: "  gluepot compact",
		RunE: cli.Long(withStore(cfg, func(ctx context.Context, store *gormstore.Store, _ []string) error {
			result, err := store.Compact(ctx)
			if err != nil {
				return causeOr(ctx, err)
			}
			_, err = fmt.Fprintf(stdout, "The file had %d bytes with its log, and has %d now.\n", result.Before, result.After)
			return err
		})),
	}
}

// fileArgument accepts the path of a file, and refuses a database URL.
func fileArgument(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && cli.MayHoldPassword(args[0]) {
		return cli.Usage("FILE is %s: give the path of a file", cli.Quote(args[0]))
	}
	return cli.Arguments(cmd, args)
}

// causeOr returns why the context was cancelled, if it was, or err.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
