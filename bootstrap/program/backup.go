package program

import (
	"context"
	"fmt"
	"io"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/cli"
	"github.com/gluepot/gluepot/adapters/gormstore"
)

func backupCommand(cfg *config, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write what the embedded database holds to a file, while it is in use", Args: fileArgument,
		Long: `Write what the embedded database (SQLite) holds at one instant to a new file, while servers read and write it. The file is a
database itself, without gaps and for its owner only; it has its name once all of it is on the disk. A file that exists is not
overwritten. Of a PostgreSQL database use pg_dump.`,
		Example: "  gluepot backup /var/backups/gluepot-$(date +%F).db\n  gluepot restore /var/backups/gluepot-2024-02-29.db",
	}
	cmd.RunE = long(withStore(cfg, func(ctx context.Context, store *gormstore.Store, args []string) error {
		if err := store.Backup(ctx, args[0]); err != nil {
			return causeOr(ctx, err)
		}
		_, err := fmt.Fprintf(stdout, "The database is backed up to %s.\n", args[0])
		return err
	}))
	return cmd
}

func restoreCommand(cfg *config, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Make a backup the embedded database", Args: fileArgument,
		Long: `Make a file that 'gluepot backup' has written the embedded database (SQLite). The file stays; its copy is examined first: whether
it is sound, and of a version that this program knows. Run it as the user of the server.

With --replace a database that is there is kept beside the new one, under its name and the time. No server may have it open.`,
		Example: "  gluepot restore /var/backups/gluepot-2024-02-29.db\n  gluepot restore --replace /var/backups/gluepot-2024-02-29.db",
	}
	replace := cmd.Flags().Bool("replace", false, "put it in the place of a database, which is kept beside it")
	cmd.RunE = long(func(cmd *cobra.Command, args []string) error {
		if err := completeWarning(cmd, cfg); err != nil {
			return err
		}
		ctx := cmd.Context()
		done, err := gormstore.Restore(ctx, cfg.Database, args[0], *replace)
		if err != nil {
			return causeOr(ctx, err)
		}
		text := fmt.Sprintf("The database %s is restored from %s.\n", cfg.Database.URL, args[0])
		if done.Kept != "" {
			text += fmt.Sprintf("What it was before is kept at %s.\n", done.Kept)
		}
		if done.Version < done.Latest {
			text += fmt.Sprintf("It is at version %d of %d: 'gluepot migrate up', or a server, will migrate it.\n", done.Version, done.Latest)
		}
		_, err = io.WriteString(stdout, text)
		return err
	})
	return cmd
}

func compactCommand(cfg *config, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "compact", Short: "Give room in the embedded database that nothing takes back to the disk", Args: cli.Arguments(),
		Long: `Shrink the file of the embedded database (SQLite) to what it holds, after much was deleted. Servers may go on: reading
does, and writing waits, for GLUEPOT_DATABASE_CONNECT_TIMEOUT at most. The disk needs as much free room as the file has.`,
		Example: "  gluepot compact",
	}
	cmd.RunE = long(withStore(cfg, func(ctx context.Context, store *gormstore.Store, _ []string) error {
		done, err := store.Compact(ctx)
		if err != nil {
			return causeOr(ctx, err)
		}
		_, err = fmt.Fprintf(stdout, "The file had %d bytes with its log, and has %d now.\n", done.Before, done.After)
		return err
	}))
	return cmd
}

// fileArgument takes the path of a file, and no database URL.
func fileArgument(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && cli.MayHoldPassword(args[0]) {
		return cli.Usage("FILE is %s: it takes the path of a file", cli.Quote(args[0]))
	}
	return cli.Arguments("FILE")(cmd, args)
}

// long is the cli.Long of the program: SIGINT, SIGTERM and SIGHUP end the command in order, the second one ends the process at once,
// as it would have without this.
func long(run cli.RunE) cli.RunE {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), stopSignals()...)
		defer stop()
		context.AfterFunc(ctx, stop)
		cmd.SetContext(ctx)
		return run(cmd, args)
	}
}

// causeOr returns why a command was to end early, if it was, rather than what came of that.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
