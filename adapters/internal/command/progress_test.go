package command

import (
	"io"
	"strings"
	"testing"

	"github.com/schollz/progressbar/v3"
)

// TestProgressOfGrowingFile reads more bytes than the file had at first.
func TestProgressOfGrowingFile(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 3} {
		p := Progress{progressbar.NewOptions64(size, progressbar.OptionSetWriter(io.Discard))}
		if text, err := io.ReadAll(io.TeeReader(strings.NewReader("longer"), p)); err != nil || string(text) != "longer" {
			t.Errorf("a bar of %d bytes: got %q, error %v, want %q", size, text, err, "longer")
		}
	}
}
