package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestCopyKilled kills copies at several instants while their source changes. No server accepts what each leaves; the
// next copy starts from the beginning, and the last one ends with equal sides.
func TestCopyKilled(t *testing.T) {
	t.Parallel()
	const kills, pastes = 8, 60_000
	for name, empty := range map[string]func(testing.TB) gormstore.Config{"postgres": database.EmptyPostgres,
		"sqlite": database.EmptySQLite} {
		t.Run(name, func(t *testing.T) {
			source, target := database.SQLite(t), empty(t)
			program.Fixture(t, source)
			db := database.SQL(t, source)
			change := func(statement string) {
				t.Helper()
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			change(fmt.Sprintf(`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < %d)
				INSERT INTO pastes (id, owner_id, created_at, expires_at, lifetime, visibility, title, encrypted,
					pasties, tags, edits, content_bytes, history_bytes)
					SELECT printf('p%%07d', n * 7919 %% 1000003), 'mortar01', n, NULL, 'never', 1, '', false, 1, 0, 0, 1000, 0
				FROM n`, pastes))
			change(`INSERT INTO pasties SELECT id, 0, 'pasty001', '', 'Go', hex(randomblob(500)) FROM pastes
				WHERE id LIKE 'p%5' ON CONFLICT DO NOTHING`)
			args := []string{"copy", "--json", "--from", source.URL, "--to", target.URL}
			stats := func() (int, string) {
				code, stdout, _ := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + target.URL}, "stats", "--json")
				return code, stdout
			}
			killed := 0
			for {
				limit := time.Duration(100+150*killed) * time.Millisecond
				if killed == kills {
					limit = 5 * time.Minute
				}
				p := program.StartShipped(t, nil, args...)
				select {
				case <-p.Exited:
				case <-time.After(limit):
					_ = p.Cmd.Process.Kill()
					<-p.Exited
				}
				if equal := strings.Count(p.Stdout.String(), `"equal":true`); equal == len(gormstore.NewCopies(nil).Tables()) {
					break
				} else if code := p.Cmd.ProcessState.ExitCode(); code != -1 || killed == kills {
					t.Fatalf("got exit code %d and %d tables that are equal, want a kill or all: %s", code, equal, &p.Stderr)
				}
				killed++
				if code, stdout := stats(); code == 0 && !strings.Contains(stdout, `"activePastes":0,`) {
					t.Fatalf("got %s after %d kills, want no command to take the target for a database", stdout, killed)
				}
				change(fmt.Sprintf(`DELETE FROM pastes WHERE id LIKE 'p%%%d9'`, killed))
				change(fmt.Sprintf(`UPDATE pastes SET visibility = 1 - visibility WHERE id LIKE 'p%%%d1'`, killed))
				change(fmt.Sprintf(`UPDATE users SET username = 'name%d' WHERE id = 'mortar01'`, killed))
			}
			record(t, "copies killed", fmt.Sprint(killed), "")
			if killed == 0 {
				t.Error("got no copy that was killed, want some")
			}
			var want int64
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pastes").Scan(&want); err != nil {
				t.Fatal(err)
			}
			// The counters that triggers keep are right, too.
			_, counted := stats()
			if text := fmt.Sprintf(`"activePastes":%d,"expiredUnsweptPastes":1,`, want-1); !strings.Contains(counted, text) {
				t.Errorf("got %s, want %s in it", counted, text)
			}
		})
	}
}
