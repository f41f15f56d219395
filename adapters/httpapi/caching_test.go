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

func TestETagOfSum(t *testing.T) {
	t.Parallel()
	if got, want := etagOfSum(0x0123456789abcdef), `"ASNFZ4mrze8"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
