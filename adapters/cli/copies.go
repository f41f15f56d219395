package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
)

// OpenCopy returns the use case that copies the database at one URL to another, and a function that closes both.
type OpenCopy func(cmd *cobra.Command, from, to string,
	progress func(copies.Progress)) (*copies.Copy, func() error, error)

func (c *Commands) copy() *cobra.Command {
	cmd := c.newCommand("copy", "Copy everything to another database, SQLite or PostgreSQL",
		"copy --from sqlite://data/gluepot.db --to postgres://gluepot@localhost/gluepot", nil)
	cmd.Long = `Copy everything from one database to another: from SQLite to PostgreSQL, back, or between two of
a kind. The URLs are as in GLUEPOT_DATABASE_URL. You may leave out the password: PGPASSWORD and ~/.pgpass are read, too.

The source does not change. The copy holds what the source held at one instant, and nothing that servers write
after that. With GLUEPOT_READ_ONLY=true they keep answering reads, and write nothing. The source must have the
schema of this program.

The target must be empty. It is created and migrated, unless GLUEPOT_DATABASE_MIGRATE=false. Until the copy ends, a
server that runs on the target is not ready and refuses writes, and no other server starts on it. If the copy is
interrupted or killed, run the same command again: it starts from the beginning. To give up, delete the target.

At the end the target is read back. The number of rows and the SHA-256 of each table are printed for both sides. If
they differ, the exit code is 1.`
	var from, to string
	secret := func(to *string) func(string) error { // pflag prints the value of a String, and never that of a Func
		return func(text string) error { *to = text; return nil }
	}
	cmd.Flags().Func("from", "`URL` of the database to copy", secret(&from))
	cmd.Flags().Func("to", "`URL` of the database to copy to", secret(&to))
	_, _ = cmd.MarkFlagRequired("from"), cmd.MarkFlagRequired("to") // never fail: the flags are there
	cmd.RunE = Long(func(cmd *cobra.Command, _ []string) (err error) {
		ctx := cmd.Context()
		if from == to {
			return Usage("--from and --to are the same database")
		}
		show, finish := c.phases()
		use, stop, err := c.OpenCopy(cmd, from, to, show)
		if err != nil {
			return explainInterrupt(ctx, err)
		}
		defer func() { err = errors.Join(err, stop()) }()
		compared, err := use.Do(ctx, audit.Operator())
		finish()
		if err != nil {
			return explainInterrupt(ctx, err)
		}
		if err := c.printComparisons(compared); err != nil || c.json {
			return err
		}
		_, err = fmt.Fprintf(c.Stderr,
			"gluepot: Servers and commands use the copy only if GLUEPOT_DATABASE_URL is its URL. %s\n",
			moveAway(from))
		return err
	})
	return cmd
}

// moveAway says what to do about the source of a copy, so that no command goes on working on it.
func moveAway(from string) string {
	if path, ok := strings.CutPrefix(from, "sqlite://"); ok {
		return "Move the file " + path +
			" away, with its -wal and -shm: a command without that variable may find it, and work on the old data."
	}
	return "Delete the source when you no longer need it."
}

// explainInterrupt says what to do about a command that was ended by a signal.
func explainInterrupt(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w; run the same command to start again", context.Cause(ctx))
}

func (c *Commands) printComparisons(compared []copies.Comparison) error {
	err := listOutput(all(compared), func(t copies.Comparison) record {
		return record{
			{"table", "TABLE", t.Table}, {"sourceRows", "SOURCE ROWS", t.Source.Rows},
			{"targetRows", "TARGET ROWS", t.Target.Rows},
			{"sourceChecksum", "SOURCE SHA-256", clipped(t.Source.Checksum)},
			{"targetChecksum", "TARGET SHA-256", clipped(t.Target.Checksum)},
			{"equal", "EQUAL", t.Equal()},
		}
	})(c)
	if err != nil {
		return err
	}
	var different []string
	for _, t := range compared {
		if !t.Equal() {
			different = append(different, t.Table)
		}
	}
	if len(different) > 0 {
		return fault.New(fault.Conflict,
			fmt.Sprintf("Source and target differ in %s: something else has written to the target.",
				strings.Join(different, ", ")))
	}
	return nil
}

// phases returns a function that shows the progress of each phase of a copy, and one that ends the display.
func (c *Commands) phases() (show func(copies.Progress), stop func()) {
	phase, progress := "", command.Progress{}
	stop = func() {
		if phase != "" {
			_ = progress.Finish()
		}
	}
	return func(now copies.Progress) {
		if now.Phase != phase {
			stop()
			phase, progress = now.Phase, command.NewProgress(c.Stderr, now.Phase, now.Of, false)
		}
		_ = progress.Set64(now.Rows)
	}, stop
}
