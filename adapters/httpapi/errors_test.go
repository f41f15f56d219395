package httpapi

import (
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for kind := fault.Internal; kind.String() != "unknown"; kind++ {
		status := statusOf[kind]
		if status < 400 || seen[status] {
			t.Errorf("%v: got %d, want a status of a failure, and of no other kind", kind, status)
		}
		seen[status] = true
	}
}
