package ident

import (
	"errors"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestNew(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		id := New()
		if len(id) != generatedLength || !Valid(id) || seen[id] {
			t.Fatalf("got %q, want a new, valid id of %d characters", id, generatedLength)
		}
		seen[id] = true
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for id, valid := range map[string]bool{
		"a": true, "A-z_0": true, "": false, "a b": false, "ä": false, "a\x00": false, string(make([]byte, 65)): false,
	} {
		if Valid(id) != valid {
			t.Errorf("%q: got valid %v, want %v", id, Valid(id), valid)
		}
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	type id string
	var drawn []id
	refuse := func(first int, then error) func(id) error {
		drawn = nil
		return func(i id) error {
			if drawn = append(drawn, i); len(drawn) <= first {
				return fault.Wrap(fault.Conflict, "taken", ErrTaken)
			}
			return then
		}
	}
	if err := Draw(refuse(draws-1, nil)); err != nil || len(drawn) != draws || drawn[0] == drawn[1] {
		t.Errorf("got %v, error %v, want %d ids and no error", drawn, err, draws)
	}
	other := fault.New(fault.Conflict, "another conflict")
	if err := Draw(refuse(1, other)); !errors.Is(err, other) || len(drawn) != 2 {
		t.Errorf("got %v, error %v, want 2 ids and %v", drawn, err, other)
	}
	if err := Draw(refuse(1000, nil)); !fault.Is(err, fault.Unavailable) || !errors.Is(err, ErrTaken) || len(drawn) != draws {
		t.Errorf("got %v, error %v, want %d ids and %v", drawn, err, draws, ErrTaken)
	}
}
