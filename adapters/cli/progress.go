package cli

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// reportInterval is how often progress is reported where there is no terminal.
const reportInterval = 3 * time.Second

// progress shows how much of a file was read: a bar on a terminal, elsewhere a line now and then.
type progress struct {
	bar  *progressbar.ProgressBar
	read atomic.Int64
	done chan struct{} // closed to end the reports
	over chan struct{} // closed when they have ended
}

func (c *Commands) newProgress(kind string, size int64) *progress {
	p := &progress{done: make(chan struct{}), over: make(chan struct{})}
	if isTerminal(c.stderr) {
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(c.stderr), progressbar.OptionSetDescription(kind), progressbar.OptionShowBytes(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionOnCompletion(func() {
				_, _ = fmt.Fprintln(c.stderr)
			}))
		close(p.over)
		return p
	}
	go func() {
		defer close(p.over)
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
					remaining := float64(size-read) / rate * float64(time.Second)
					left = fmt.Sprintf(" of %d MiB, %v left", size>>20, time.Duration(remaining).Round(time.Second))
				}
				_, _ = fmt.Fprintf(c.stderr, "%s: %d MiB%s, %.1f MiB/s\n", kind, read>>20, left, rate/(1<<20))
			}
		}
	}()
	return p
}

// Write takes note of what was read. It never fails: a bar that cannot be drawn, or a file that has grown since its
// length was asked for, is no reason to end an import.
func (p *progress) Write(b []byte) (int, error) {
	if p.bar != nil {
		_ = p.bar.Add(len(b))
	}
	p.read.Add(int64(len(b)))
	return len(b), nil
}

func (p *progress) stop() {
	close(p.done)
	<-p.over
	if p.bar != nil {
		_ = p.bar.Finish() // only drawing can fail
	}
}
