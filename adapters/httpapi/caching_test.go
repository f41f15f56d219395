package httpapi

import (
	"testing"
)

func TestMatchesETag(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		`"a"`: true, `W/"a"`: true, `*`: true, `"b", "a"`: true, ` "a" `: true, `"b"`: false, ``: false, `a`: false, `"a`: false,
	} {
		if matchesETag([]string{header}, `"a"`) != want {
			t.Errorf("%q: got %v, want %v", header, !want, want)
		}
	}
}

func TestETagOfSum(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all goroutines
	var got string
	allocations := testing.AllocsPerRun(100, func() { got = etagOfSum(0x0123456789abcdef) })
	if want := `"ASNFZ4mrze8"`; got != want || allocations > 1 {
		t.Errorf("got %s with %v allocations, want %s with one", got, allocations, want)
	}
}
