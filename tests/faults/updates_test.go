package faults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/program"
)

// TestConcurrentUpdates changes different fields of a user with three commands at once, and checks that none undoes
// another's change.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	const rounds = 8
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		lost := 0
		for round := range rounds {
			changes := []string{
				fmt.Sprint("--avatar-url https://example.com/round/", round), fmt.Sprint("--default-lang Language", round),
				fmt.Sprint("--service another=", round),
			}
			var processes []*program.Process
			for _, change := range changes {
				processes = append(processes, program.Start(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, lockPatience},
					strings.Fields("user update epoxy "+change)...))
			}
			for _, p := range processes {
				if code := p.Wait(); code != 0 {
					t.Errorf("got exit code %d, want 0: %s", code, &p.Stderr)
				}
			}
			output := gluepot(t, cfg.URL, "user show epoxy --json")
			for _, part := range []string{fmt.Sprintf("/round/%d\"", round), fmt.Sprintf("\"Language%d\"", round),
				fmt.Sprintf("\"another\":\"%d\"", round)} {
				if !strings.Contains(strings.ReplaceAll(output, "\": \"", "\":\""), part) {
					lost++
					t.Errorf("round %d: got %s, want %s in it", round, output, part)
				}
			}
		}
		record(t, "updates undone by another", fmt.Sprintf("%d of %d", lost, 3*rounds), "0")
	})
}
