package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// Sources read another installation's exports.
type Sources struct {
	Users  func(r io.Reader) imports.Records[imports.User]
	Keys   func(r io.Reader) imports.Records[imports.Key]
	Pastes func(r io.Reader) imports.Records[paste.Import]
}

func (c *Commands) importData() *cobra.Command {
	var usersFile, keysFile, pastesFile, rejects string
	var anonymize bool
	cmd := c.newCommand("pastemyst", "Import what mongoexport writes from a PasteMyst v2 installation",
		"import pastemyst --users users.json --api-keys api-keys.json --pastes pastes.json.gz", nil)
	cmd.Example += "\n  mongoexport -d pastemyst -c pastes | gluepot import pastemyst --pastes -"
	cmd.Long = `Import what mongoexport writes from a PasteMyst v2 installation: one JSON document on each line.
"-" is standard input, and gzip is recognised.

You can run it again at any time, even after it was killed. The same input changes nothing. A newer export updates
what is stored, even what was edited here. What was deleted here stays deleted, and counts as REMOVED EARLIER.
Users are read first, whatever the order of the flags. An interrupt (SIGINT, SIGTERM, SIGHUP) stops the import after
the records that it has begun; a second one stops it at once.

Pastes keep everything that they hold, including their history and encrypted content. A paste whose owner is not a user
here is rejected, or stored without an owner with --orphans anonymous.

A record that cannot be accepted is reported, and the exit code is then 1. Each run writes rejected records to a new
file for each kind, KIND-FILE.rejects, one on each line, which only its owner may read. Fix the cause, and import that
file. An existing file stays as it is, and the new one gets a number: KIND-FILE.2.rejects.`
	flags := cmd.Flags()
	flags.StringVar(&usersFile, "users", "", "`FILE` with the users collection")
	flags.StringVar(&keysFile, "api-keys", "", "`FILE` with the api-keys collection")
	flags.StringVar(&pastesFile, "pastes", "", "`FILE` with the pastes collection")
	cmd.MarkFlagsOneRequired("users", "api-keys", "pastes")
	flags.Func("orphans", "what to do with a paste whose owner is not a user here: `reject` (default) or anonymous",
		setter(&anonymize, orAnonymous("reject")))
	flags.StringVar(&rejects, "rejects-dir", ".", "`FOLDER` to write the files of rejected records to")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		var files []string
		for _, name := range []string{"users", "api-keys", "pastes"} {
			if flag := flags.Lookup(name); flag.Changed {
				files = append(files, flag.Value.String())
			}
		}
		return command.CheckInputs(files)
	}
	cmd.RunE = Long(c.run(true, func(ctx context.Context, m Modules, _ []string) (output, error) {
		run, orphans := &importRun{commands: c, rejectsFolder: rejects}, paste.RefuseOrphans
		if anonymize {
			orphans = paste.AnonymizeOrphans
		}
		importFile(ctx, run, "users", usersFile, c.Sources.Users, m.Imports.Users.Do)
		importFile(ctx, run, "api-keys", keysFile, c.Sources.Keys, m.Imports.Keys.Do)
		importFile(ctx, run, "pastes", pastesFile, c.Sources.Pastes,
			func(
				ctx context.Context, actor audit.Actor, source imports.Source[paste.Import], reject imports.Reject,
			) (imports.Summary, error) {
				return m.Imports.Pastes.Do(ctx, actor, source, orphans, reject)
			})
		return nil, run.finish(ctx, m)
	}))
	return Group("import", "Import the data of another installation", cmd)
}

// importRun is one run of the command.
type importRun struct {
	commands      *Commands
	rejectsFolder string
	summaries     []importSummary
	err           error // the error that ended the run
}

// importSummary is the summary of one kind of records. rejects is the path of their file, or "".
type importSummary struct {
	imports.Summary

	kind, file, rejects string
}

func (s importSummary) record() record {
	return record{
		{"kind", "KIND", s.kind}, {"file", "", s.file}, {"read", "READ", s.Read},
		{"new", "NEW", s.New}, {"updated", "UPDATED", s.Updated}, {"unchanged", "UNCHANGED", s.Unchanged},
		{"removedEarlier", "REMOVED EARLIER", s.RemovedEarlier},
		{"rejected", "REJECTED", s.Rejected}, {"rejectsFile", "", s.rejects},
	}
}

// importFile imports one file, unless an earlier one has failed.
func importFile[R any](
	ctx context.Context, run *importRun, kind, file string,
	source func(io.Reader) imports.Records[R],
	do func(context.Context, audit.Actor, imports.Source[R], imports.Reject) (imports.Summary, error),
) {
	if file == "" || run.err != nil {
		return
	}
	input, err := command.OpenInput(run.commands.Stdin, file)
	if err != nil {
		run.err = err
		return
	}
	defer input.Close()
	progress := command.NewProgress(run.commands.Stderr, kind, input.Size, true)
	rejects := &rejectsFile{
		folder: run.rejectsFolder, name: rejectsName(kind, file), source: input.Name, report: run.commands.Stderr,
	}
	summary, err := do(ctx, audit.Operator(), func(ctx context.Context) imports.Records[R] {
		return source(io.TeeReader(input.Reader(ctx), progress))
	}, rejects.add)
	_ = progress.Finish()
	if err != nil && ctx.Err() != nil { // the interrupt is the cause
		err = fmt.Errorf("%w; what is counted above is stored; run the same command to import the rest", context.Cause(ctx))
	}
	if err := errors.Join(err, rejects.close()); err != nil {
		run.err = fmt.Errorf("import %s from %s: %w", kind, input.Name, err)
	}
	run.summaries = append(run.summaries, importSummary{summary, kind, input.Name, rejects.path})
}

// finish prints the summary, even after a failure.
func (r *importRun) finish(ctx context.Context, m Modules) error {
	if err := listOutput(all(r.summaries), importSummary.record)(r.commands); err != nil {
		return errors.Join(err, r.err)
	}
	if r.err == nil {
		m.Analyze(ctx)
		totals, err := m.Stats.Sum.Do(ctx)
		r.err = err
		if totals.WaitingStars > 0 {
			_, _ = fmt.Fprintf(r.commands.Stderr, "%s for pastes that are not stored.\n",
				english.Plural(int(totals.WaitingStars), "star waits", "stars wait"))
		}
	}
	rejected, files := int64(0), []string(nil)
	for _, summary := range r.summaries {
		if rejected += summary.Rejected; summary.rejects != "" {
			files = append(files, summary.rejects)
		}
	}
	if rejected > 0 {
		message := fmt.Sprintf("Rejected records: %d, kept in %s.", rejected, strings.Join(files, " and "))
		r.err = errors.Join(r.err, fault.New(fault.Invalid, message))
	}
	return r.err
}
