package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "write JSON")
}

// printJSON writes one value on one line.
func (c *Commands) printJSON(v any) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	return command.Write(c.stdout, c.terminal, text.String())
}

// print writes v as JSON, or the text.
func (c *Commands) print(asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		return c.printJSON(v)
	}
	_, err := fmt.Fprintf(c.stdout, format, args...)
	return err
}

// table writes aligned columns with titles.
func (c *Commands) table(titles ...string) (row func(cells ...string), flush func() error) {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	row = func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) } // flush returns the error
	row(titles...)
	return row, w.Flush
}

// printList writes each item on a line: as JSON, which streams, or in a table.
func printList[T, V any](
	c *Commands, asJSON bool, each func(visit func(T) error) error, view func(T) V, titles []string, cells func(T) []string,
) error {
	if asJSON {
		return each(func(one T) error { return c.printJSON(view(one)) })
	}
	row, flush := c.table(titles...)
	err := each(func(one T) error {
		row(cells(one)...)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// all visits each item of a slice.
func all[T any](slice []T) func(visit func(T) error) error {
	return func(visit func(T) error) error {
		for _, one := range slice {
			if err := visit(one); err != nil {
				return err
			}
		}
		return nil
	}
}

// moment prints an instant, or "never" for the zero time.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// timeOrNil makes the zero time null in JSON.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// progress shows on a terminal how much of a file or table was read. It ignores errors: they must not end a command.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress begins to show progress. A size of -1 is unknown.
func (c *Commands) newProgress(kind string, size int64, isBytes bool) *progress {
	return &progress{progressbar.NewOptions64(size,
		progressbar.OptionSetVisibility(command.IsTerminal(c.stderr)), progressbar.OptionSetWriter(c.stderr),
		progressbar.OptionSetDescription(kind), progressbar.OptionShowBytes(isBytes),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionOnCompletion(func() {
			_, _ = fmt.Fprintln(c.stderr)
		}))}
}

// Write counts the bytes that were read. It never fails.
func (p *progress) Write(b []byte) (int, error) {
	p.add(int64(len(b)))
	return len(b), nil
}

func (p *progress) add(read int64) { _ = p.bar.Add64(read) }

func (p *progress) stop() { _ = p.bar.Finish() }
