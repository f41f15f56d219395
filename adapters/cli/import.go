package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/fault"
)

// Sources read another installation's exports. array says that a file is one JSON array rather than one
// document on each line.
type Sources struct {
	Users  func(r io.Reader, array bool) iter.Seq2[imports.Record[imports.User], error]
	Keys   func(r io.Reader, array bool) iter.Seq2[imports.Record[imports.Key], error]
	Pastes func(r io.Reader, array bool) iter.Seq2[imports.Record[imports.Paste], error]
}

const (
	// importMemory makes the collector work harder rather than let an import grow: large documents
	// otherwise leave large garbage.
	importMemory = 72 << 20
	// reportInterval is how often progress is reported where there is no terminal.
	reportInterval = 3 * time.Second
)

// importView is the summary of one kind of records in JSON.
type importView struct {
	Kind      string `json:"kind"`
	File      string `json:"file"`
	Read      int64  `json:"read"`
	New       int64  `json:"new"`
	Updated   int64  `json:"updated"`
	Unchanged int64  `json:"unchanged"`
	Rejected  int64  `json:"rejected"`
	Rejects   string `json:"rejectsFile,omitempty"`
}

func (c *Commands) importing() *cobra.Command {
	return Group("import", "Bring another installation's data in", c.importPasteMyst())
}

func (c *Commands) importPasteMyst() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pastemyst",
		Short: "Read what mongoexport writes from a PasteMyst v2 installation",
		Long: `Read what mongoexport writes from a PasteMyst v2 installation: one JSON document on each line, or one
array with --json-array; "-" is standard input; gzip is recognised.

It can be run again at any time, also after being killed: the same input changes nothing, a newer export
updates. Users are read first, whatever the order of the flags. A record that cannot be accepted is
reported and written to FILE.rejects, which can be imported once the cause is gone; the exit code is then 1.`,
		Args:    Arguments(),
		Example: "  gluepot import pastemyst --users users.json --api-keys api-keys.json --pastes pastes.json.gz\n  mongoexport -d pastemyst -c pastes | gluepot import pastemyst --pastes -",
	}
	flags := cmd.Flags()
	usersFile := flags.String("users", "", "`FILE` with the users collection")
	keysFile := flags.String("api-keys", "", "`FILE` with the api-keys collection")
	pastesFile := flags.String("pastes", "", "`FILE` with the pastes collection")
	array := flags.Bool("json-array", false, "each file is one JSON array (mongoexport --jsonArray)")
	rejects := flags.String("rejects-dir", ".", "`FOLDER` to write the files of rejected records to")
	asJSON := jsonFlag(cmd)
	run := c.runMigrating(func(ctx context.Context, u UseCases, _ []string) error {
		debug.SetMemoryLimit(importMemory)
		run := &importRun{commands: c, array: *array, rejectsFolder: *rejects}
		importFile(ctx, run, "users", *usersFile, c.sources.Users, u.ImportUsers.Do)
		importFile(ctx, run, "api-keys", *keysFile, c.sources.Keys, u.ImportKeys.Do)
		importFile(ctx, run, "pastes", *pastesFile, c.sources.Pastes, u.ImportPastes.Do)
		return run.finish(ctx, u, *asJSON)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		inputs := 0
		for _, file := range []string{*usersFile, *keysFile, *pastesFile} {
			if file == "-" {
				inputs++
			}
		}
		switch {
		case *usersFile == "" && *keysFile == "" && *pastesFile == "":
			return Usage("give at least one of --users, --api-keys and --pastes. See '%s --help'", cmd.CommandPath())
		case inputs > 1:
			return Usage("only one of the files can be standard input")
		}
		return run(cmd, args)
	}
	return cmd
}

// importRun is one call of the command: what it has done so far, and the error that ended it.
type importRun struct {
	commands      *Commands
	array         bool
	rejectsFolder string
	views         []importView
	err           error
}

// importFile imports one file of one kind unless an earlier one failed.
func importFile[R any](
	ctx context.Context, run *importRun, kind, file string,
	source func(io.Reader, bool) iter.Seq2[imports.Record[R], error],
	do func(context.Context, iter.Seq2[imports.Record[R], error], imports.Reject) (imports.Summary, error),
) {
	if file == "" || run.err != nil {
		return
	}
	input, size, err := run.commands.openInput(file)
	if err != nil {
		run.err = err
		return
	}
	defer input.Close() //nolint:errcheck // it was only read
	name := filepath.Base(file)
	if file == "-" {
		file, name = "standard input", "stdin-"+kind
	}
	rejects := &rejectsFile{path: filepath.Join(run.rejectsFolder, name+".rejects"), source: file, report: run.commands.stderr}
	progress := run.commands.newProgress(kind, size)
	summary, err := do(ctx, source(io.TeeReader(input, progress), run.array), rejects.add)
	progress.stop()
	err = errors.Join(err, rejects.close())
	if err != nil {
		run.err = fmt.Errorf("import %s from %s: %w", kind, file, err)
	}
	run.views = append(run.views, importView{
		Kind: kind, File: file, Read: summary.Read, New: summary.New, Updated: summary.Updated,
		Unchanged: summary.Unchanged, Rejected: summary.Rejected, Rejects: rejects.written(),
	})
}

// finish prints the summary, also of a run that failed.
func (r *importRun) finish(ctx context.Context, u UseCases, asJSON bool) error {
	rejected := int64(0)
	if asJSON {
		for _, view := range r.views {
			rejected += view.Rejected
			if err := r.commands.printJSON(view); err != nil {
				return err
			}
		}
	} else {
		row, flush := r.commands.table("KIND", "READ", "NEW", "UPDATED", "UNCHANGED", "REJECTED")
		for _, v := range r.views {
			rejected += v.Rejected
			row(v.Kind, fmt.Sprint(v.Read), fmt.Sprint(v.New), fmt.Sprint(v.Updated), fmt.Sprint(v.Unchanged), fmt.Sprint(v.Rejected))
		}
		if err := flush(); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	totals, err := u.Sum.Do(ctx)
	if err != nil {
		return err
	}
	if totals.WaitingStars > 0 {
		_, _ = fmt.Fprintf(r.commands.stderr, "%d stars wait for pastes that are not stored.\n", totals.WaitingStars)
	}
	if rejected > 0 {
		return fault.New(fault.Invalid, fmt.Sprintf("%d records were rejected; they are in the .rejects files.", rejected))
	}
	return nil
}

// openInput returns a file and its size in bytes, -1 when nobody knows.
func (c *Commands) openInput(file string) (io.ReadCloser, int64, error) {
	if file == "-" {
		return io.NopCloser(c.stdin), -1, nil
	}
	opened, err := os.Open(file) //nolint:gosec // the operator names it
	if err != nil {
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		return nil, 0, Usage("cannot read %s: %v", file, err)
	}
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return opened, -1, err
	}
	return opened, info.Size(), nil
}

// rejectsFile keeps the records that were not accepted, as they were, one on each line. It exists
// only if there are any.
type rejectsFile struct {
	path   string
	source string
	report io.Writer
	file   *os.File
}

func (r *rejectsFile) add(line int, raw []byte, reason error) error {
	if r.file == nil {
		file, err := os.Create(r.path)
		if err != nil {
			return fmt.Errorf("write the rejected records: %w", err)
		}
		r.file = file
	}
	_, _ = fmt.Fprintf(r.report, "%s:%d: %s\n", r.source, line, fault.MessageOf(reason))
	// Line breaks stand between the parts of an array's element only; a space does there as well.
	text := append(bytes.Clone(raw), '\n')
	for i, c := range text[:len(raw)] {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
	_, err := r.file.Write(text)
	return err
}

func (r *rejectsFile) written() string {
	if r.file == nil {
		return ""
	}
	return r.path
}

// close ends the file. Where nothing was rejected, a file that an earlier run left is out of date.
func (r *rejectsFile) close() error {
	if r.file != nil {
		return r.file.Close()
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// progress shows how much of a file was read: a bar on a terminal, elsewhere a line now and then.
type progress struct {
	bar  *progressbar.ProgressBar
	read atomic.Int64
	done chan struct{}
}

func (c *Commands) newProgress(kind string, size int64) *progress {
	p := &progress{done: make(chan struct{})}
	if file, ok := c.stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(c.stderr), progressbar.OptionSetDescription(kind), progressbar.OptionShowBytes(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionOnCompletion(func() {
				_, _ = fmt.Fprintln(c.stderr)
			}))
		return p
	}
	go func() {
		started := time.Now()
		ticker := time.NewTicker(reportInterval)
		defer ticker.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-ticker.C:
				read := p.read.Load()
				rate := float64(read) / time.Since(started).Seconds()
				left := ""
				if size > 0 && rate > 0 {
					left = fmt.Sprintf(" of %d MiB, %v left", size>>20, time.Duration(float64(size-read)/rate*float64(time.Second)).Round(time.Second))
				}
				_, _ = fmt.Fprintf(c.stderr, "%s: %d MiB%s, %.1f MiB/s\n", kind, read>>20, left, rate/(1<<20))
			}
		}
	}()
	return p
}

// Write takes note of what was read.
func (p *progress) Write(b []byte) (int, error) {
	if p.bar != nil {
		return p.bar.Write(b)
	}
	p.read.Add(int64(len(b)))
	return len(b), nil
}

func (p *progress) stop() {
	close(p.done)
	if p.bar != nil {
		_ = p.bar.Finish() // only drawing can fail
	}
}
