package cli

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// reportInterval is how often progress is reported where there is no terminal.
const reportInterval = 3 * time.Second

// unit is what progress is counted in.
type unit struct {
	name     string
	size     int64 // how many make one that is shown
	decimals int   // of a rate
}

var (
	bytesRead  = unit{name: "MiB", size: 1 << 20, decimals: 1}
	rowsRead   = unit{name: "rows", size: 1}
	pastesRead = unit{name: "pastes", size: 1}
)

// progress shows how much of a file or a table was read: a bar on a terminal, elsewhere a line now and then.
type progress struct {
	bar  *progressbar.ProgressBar
	read atomic.Int64
	done chan struct{} // closed to end the reports
	over chan struct{} // closed when they have ended
}

// newProgress shows progress from now on. The size is 0 when it is not known.
func (c *Commands) newProgress(kind string, size int64, in unit) *progress {
	p := &progress{done: make(chan struct{}), over: make(chan struct{})}
	if isTerminal(c.stderr) {
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(c.stderr), progressbar.OptionSetDescription(kind), progressbar.OptionShowBytes(in == bytesRead),
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
					left = fmt.Sprintf(" of %d %s, %v left", size/in.size, in.name, time.Duration(remaining).Round(time.Second))
				}
				_, _ = fmt.Fprintf(c.stderr, "%s: %d %s%s, %.*f %s/s\n", kind, read/in.size, in.name, left, in.decimals,
					rate/float64(in.size), in.name)
			}
		}
	}()
	return p
}

// Write takes note of what was read. It never fails.
func (p *progress) Write(b []byte) (int, error) {
	p.add(int64(len(b)))
	return len(b), nil
}

// add takes note of what was read: a bar that cannot be drawn, or a file that has grown since its length was asked for, is
// no reason to end a command.
func (p *progress) add(read int64) {
	if p.bar != nil {
		_ = p.bar.Add64(read)
	}
	p.read.Add(read)
}

func (p *progress) stop() {
	close(p.done)
	<-p.over
	if p.bar != nil {
		_ = p.bar.Finish() // only drawing can fail
	}
}
