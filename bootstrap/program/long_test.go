package program

import (
	"math"
	"runtime/debug"
	"testing"
)

// TestBeginLong is about the process's own memory limit, so nothing runs beside it.
func TestBeginLong(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for setting, want := range map[string]int64{"": 60 << 20, "off": math.MaxInt64, "300MiB": 300 << 20} {
		t.Setenv("GOMEMLIMIT", setting)
		debug.SetMemoryLimit(math.MaxInt64)
		if setting == "300MiB" {
			debug.SetMemoryLimit(300 << 20) // as the runtime does at start
		}
		ctx, end := beginLong(t.Context(), 60<<20)
		if ctx.Err() != nil {
			t.Error(ctx.Err())
		}
		end()
		if got := debug.SetMemoryLimit(-1); got != want || ctx.Err() == nil {
			t.Errorf("GOMEMLIMIT=%s: a limit of %d bytes, want %d; afterwards %v", setting, got, want, ctx.Err())
		}
	}
}
