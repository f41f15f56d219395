package command

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress is a progress bar on a terminal. It disappears at the end, or by Finish. Its errors are ignored, because
// they must not end a command.
type Progress struct{ *progressbar.ProgressBar }

// NewProgress shows a progress bar if stderr is a terminal. A size of -1 is unknown.
func NewProgress(stderr io.Writer, kind string, size int64, isBytes bool) Progress {
	return Progress{progressbar.NewOptions64(size,
		progressbar.OptionSetVisibility(IsTerminal(stderr)), progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription(kind), progressbar.OptionShowBytes(isBytes), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())}
}

// Write counts bytes. It never fails.
func (p Progress) Write(b []byte) (int, error) {
	_ = p.Add(len(b))
	return len(b), nil
}
