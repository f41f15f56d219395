package ident

import "testing"

func TestNew(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		id := New()
		if len(id) != generatedLength || !Valid(id) || seen[id] {
			t.Fatalf("%q", id)
		}
		seen[id] = true
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for id, valid := range map[string]bool{"a": true, "A-z_0": true, "": false, "a b": false, "ä": false, "a\x00": false, string(make([]byte, 65)): false} {
		if Valid(id) != valid {
			t.Errorf("%q", id)
		}
	}
}
