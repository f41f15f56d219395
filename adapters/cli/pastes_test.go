package cli

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
)

// TestTerminal shows a paste on a terminal and into a pipe.
func TestTerminal(t *testing.T) {
	t.Parallel()
	const code = "\x1b]0;title\a\u202eevil"
	made := paste.Document{Content: paste.Content{Pasties: []paste.Pasty{{ID: "only", Code: code}}}}
	for terminal, want := range map[bool][2]string{
		false: {code, `"\u001b]0;title\u0007` + "\u202e" + `evil"`},
		true:  {`\u001b]0;title\u0007\u202eevil`, `"\u001b]0;title\u0007\u202eevil"`},
	} {
		var raw, inJSON strings.Builder
		if err := (&Commands{Stdout: &raw, terminal: terminal}).printRaw(made, nil); err != nil || raw.String() != want[0] {
			t.Errorf("terminal %v, raw: got %q, error %v, want %q", terminal, raw.String(), err, want[0])
		}
		err := (&Commands{Stdout: &inJSON, terminal: terminal}).printJSON(documentView{made})
		if err != nil || !strings.Contains(inJSON.String(), want[1]) {
			t.Errorf("terminal %v, JSON: got %q, error %v, want %q in it", terminal, inJSON.String(), err, want[1])
		}
	}
}
