package ident

import (
	"errors"
	"regexp"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestNew(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile("^[1-9a-z][0-9a-z]{7}$")
	seen, digits := map[string]bool{}, [8]map[byte]bool{}
	for range 10_000 {
		id := New()
		if !form.MatchString(id) || !Valid(id) || seen[id] {
			t.Fatalf("got %q, want a new id of the form %v", id, form)
		}
		seen[id] = true
		for i := range digits {
			if digits[i] == nil {
				digits[i] = map[byte]bool{}
			}
			digits[i][id[i]] = true
		}
	}
	for i, want := range [8]int{35, 36, 36, 36, 36, 36, 36, 36} {
		if len(digits[i]) != want {
			t.Errorf("digit %d: got %d values, want %d", i, len(digits[i]), want)
		}
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
	var ids []id
	refuse := func(first int, then error) func(id) error {
		ids = nil
		return func(i id) error {
			if ids = append(ids, i); len(ids) <= first {
				return fault.Wrap(fault.Conflict, "taken", ErrTaken)
			}
			return then
		}
	}
	if err := Draw(refuse(draws-1, nil)); err != nil || len(ids) != draws || ids[0] == ids[1] {
		t.Errorf("got %v, error %v, want %d ids and no error", ids, err, draws)
	}
	other := fault.New(fault.Conflict, "another conflict")
	if err := Draw(refuse(1, other)); !errors.Is(err, other) || len(ids) != 2 {
		t.Errorf("got %v, error %v, want 2 ids and %v", ids, err, other)
	}
	if err := Draw(refuse(1000, nil)); !fault.Is(err, fault.Unavailable) || !errors.Is(err, ErrTaken) ||
		len(ids) != draws {
		t.Errorf("got %v, error %v, want %d ids and %v", ids, err, draws, ErrTaken)
	}
}
