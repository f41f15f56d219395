package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// TestTerminal prints a paste to a terminal and into a pipe.
func TestTerminal(t *testing.T) {
	t.Parallel()
	const code = "\x1b]0;title\a\u202eevil"
	document := paste.Document{Content: paste.Content{Pasties: []paste.Pasty{{ID: "only", Code: code}}}}
	for terminal, want := range map[bool][2]string{
		false: {code, `"\u001b]0;title\u0007` + "\u202e" + `evil"`},
		true:  {`\u001b]0;title\u0007\u202eevil`, `"\u001b]0;title\u0007\u202eevil"`},
	} {
		var raw, inJSON strings.Builder
		err := (&Commands{Stdout: &raw, terminal: terminal}).printRaw(document, nil)
		if err != nil || raw.String() != want[0] {
			t.Errorf("terminal %v, raw: got %q, error %v, want %q", terminal, raw.String(), err, want[0])
		}
		err = (&Commands{Stdout: &inJSON, terminal: terminal}).printJSON(documentView{document})
		if err != nil || !strings.Contains(inJSON.String(), want[1]) {
			t.Errorf("terminal %v, JSON: got %q, error %v, want %q in it", terminal, inJSON.String(), err, want[1])
		}
	}
}

// TestEachStops checks that if one of several removals fails, the output says how many were done, and the error which
// pastes were missing.
func TestEachStops(t *testing.T) {
	t.Parallel()
	outcomes := map[string]error{"b": fault.New(fault.NotFound, "no b"), "c": fault.New(fault.Unavailable, "no database")}
	for mayGo, message := range map[bool]string{true: "Removed 1 paste.\n", false: "Removed the paste a.\n"} {
		var out strings.Builder
		remove := func(id string) error { return outcomes[id] }
		err := (&Commands{Stdout: &out}).each("paste", "removed", []string{"a", "b", "c", "d"}, mayGo, remove)
		if !errors.Is(err, outcomes["c"]) || fault.Is(err, fault.NotFound) == mayGo || out.String() != message {
			t.Errorf("mayGo %v: got %q, error %v, want %q and the failures", mayGo, out.String(), err, message)
		}
	}
}
