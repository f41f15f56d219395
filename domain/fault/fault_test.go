package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestKindAndMessage(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("outer: %w", Wrap(NotFound, "There is none.", io.EOF))
	if KindOf(wrapped) != NotFound || MessageOf(wrapped) != "There is none." || !errors.Is(wrapped, io.EOF) {
		t.Errorf("%v, %q", KindOf(wrapped), MessageOf(wrapped))
	}
	if KindOf(io.EOF) != Internal || MessageOf(io.EOF) == io.EOF.Error() {
		t.Errorf("%v, %q", KindOf(io.EOF), MessageOf(io.EOF))
	}
	if New(Invalid, "x").Error() != "x" || Wrap(Invalid, "x", io.EOF).Error() != "x: EOF" {
		t.Error("wrong text")
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range Kinds() {
		if kind.String() == "unknown" || seen[kind.String()] {
			t.Error(kind)
		}
		seen[kind.String()] = true
	}
	if Kind(len(kindNames)).String() != "unknown" {
		t.Error("a kind without a name")
	}
}
