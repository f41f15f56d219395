package cli

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how much of a file or a table was read, if there is a terminal. A bar that cannot be drawn, or a file that has grown since
// its length was asked for, is no reason to end a command.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress shows progress from now on. The size is -1 when it is not known.
func (c *Commands) newProgress(kind string, size int64, isBytes bool) *progress {
	return &progress{progressbar.NewOptions64(size,
		progressbar.OptionSetVisibility(isTerminal(c.stderr)), progressbar.OptionSetWriter(c.stderr),
		progressbar.OptionSetDescription(kind), progressbar.OptionShowBytes(isBytes),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionOnCompletion(func() {
			_, _ = fmt.Fprintln(c.stderr)
		}))}
}

// Write takes note of what was read. It never fails.
func (p *progress) Write(b []byte) (int, error) {
	p.add(int64(len(b)))
	return len(b), nil
}

func (p *progress) add(read int64) { _ = p.bar.Add64(read) }

func (p *progress) stop() { _ = p.bar.Finish() }
