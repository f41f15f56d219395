package paste

import (
	"runtime"
	"strings"
	"testing"
)

// TestSummaryKeepsNoCode checks that the summaries of a list do not keep the code of its pastes in memory.
func TestSummaryKeepsNoCode(t *testing.T) { //nolint:paralleltest // it watches the memory of the process
	const length = 64 << 20
	summary := Pasty{Code: strings.Repeat("x", length)}.Summary()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if stats.HeapAlloc >= length {
		t.Errorf("got %d bytes in use beside a summary, want fewer than the %d of the code", stats.HeapAlloc, length)
	}
	if len(summary.Preview) != MaxPreviewBytes {
		t.Errorf("got a preview of %d bytes, want %d", len(summary.Preview), MaxPreviewBytes)
	}
}
