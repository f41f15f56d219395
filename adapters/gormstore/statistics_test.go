package gormstore

import (
	"maps"
	"testing"
)

func TestBatchSizes(t *testing.T) {
	t.Parallel()
	var counted batchSizes
	for _, lookups := range []int{1, 1, 2, 3, 4, 5, 64, 65, 1000} {
		counted.add(lookups)
	}
	got := counted.snapshot()
	if got.Statements != 9 || got.Lookups != 1145 {
		t.Errorf("got %d statements with %d lookups, want 9 with 1145", got.Statements, got.Lookups)
	}
	if want := map[float64]uint64{1: 2, 2: 3, 4: 5, 8: 6, 16: 6, 32: 6, 64: 7}; !maps.Equal(got.AtMost, want) {
		t.Errorf("got %v, want %v", got.AtMost, want)
	}
}
