package httpapi

import (
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	if statusOf[fault.Busy] != statusOf[fault.Unavailable] {
		t.Errorf("got %d for what is busy, want what asks clients to try again", statusOf[fault.Busy])
	}
	seen := map[int]bool{}
	for _, kind := range []fault.Kind{
		fault.Internal, fault.NotFound, fault.Invalid, fault.Unauthenticated, fault.Conflict, fault.Unavailable,
		fault.Exhausted, fault.Gone,
		fault.Forbidden,
	} {
		status := statusOf[kind]
		if status < 400 || seen[status] {
			t.Errorf("%v: got %d, want a status of a failure, and of no other kind", kind, status)
		}
		seen[status] = true
	}
}
