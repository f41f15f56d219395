package detection

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/language"
)

//go:embed testdata/outputs.txt
var outputsFile string

// TestOutputs detects the output of common commands, and letters, which have no language. They were not used to make
// the detector.
func TestOutputs(t *testing.T) {
	t.Parallel()
	all, wrong := 0, 0
	for part := range strings.SplitSeq(strings.TrimPrefix(outputsFile, "=== "), "\n=== ") {
		name, text, _ := strings.Cut(part, "\n")
		all++
		if got := detect(text + "\n"); got != language.PlainText {
			wrong++
			t.Logf("%s: got %s", name, got)
		}
	}
	if all < 40 || 40*wrong > 2*all {
		t.Errorf("got a language for %d of %d texts without one, want it for 2 of 40 at most", wrong, all)
	}
}
