package httpapi

import (
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	if statusOf[fault.Busy] != statusOf[fault.Unavailable] {
		t.Errorf("%v: got %d, want %d", fault.Busy, statusOf[fault.Busy], statusOf[fault.Unavailable])
	}
	seen := map[int]bool{}
	for _, kind := range []fault.Kind{
		fault.Internal, fault.NotFound, fault.Invalid, fault.Unauthenticated, fault.Conflict, fault.Unavailable,
		fault.Exhausted, fault.Gone,
		fault.Forbidden,
	} {
		status := statusOf[kind]
		if status < 400 || seen[status] {
			t.Errorf("%v: got %d, want an error status that no other kind has", kind, status)
		}
		seen[status] = true
	}
}
