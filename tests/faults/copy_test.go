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

// TestCopyKilled kills copies at several instants while their source changes. No command may accept the incomplete
// target. The next copy must start from the beginning, and the last one must end with equal sides.
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
			readStats := func() (int, string) {
				code, stdout, _ := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + target.URL}, "stats", "--json")
				return code, stdout
			}
			count := 0
			for {
				limit := time.Duration(100+150*count) * time.Millisecond
				if count == kills {
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
				} else if code := p.Cmd.ProcessState.ExitCode(); code != -1 || count == kills {
					t.Fatalf("got exit code %d and %d equal tables, want a kill or all: %s", code, equal, &p.Stderr)
				}
				count++
				if code, stdout := readStats(); code == 0 && !strings.Contains(stdout, `"activePastes":0,`) {
					t.Fatalf("got %s after %d kills, want no command to accept the target", stdout, count)
				}
				change(fmt.Sprintf(`DELETE FROM pastes WHERE id LIKE 'p%%%d9'`, count))
				change(fmt.Sprintf(`UPDATE pastes SET visibility = 1 - visibility WHERE id LIKE 'p%%%d1'`, count))
				change(fmt.Sprintf(`UPDATE users SET username = 'name%d' WHERE id = 'mortar01'`, count))
			}
			record(t, "killed copies", fmt.Sprint(count), "")
			if count == 0 {
				t.Error("got no killed copies, want some")
			}
			var want int64
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pastes").Scan(&want); err != nil {
				t.Fatal(err)
			}
			// The counters that triggers maintain must be right, too.
			_, stats := readStats()
			if text := fmt.Sprintf(`"activePastes":%d,"expiredUnsweptPastes":1,`, want-1); !strings.Contains(stats, text) {
				t.Errorf("got %s, want %s in it", stats, text)
			}
		})
	}
}
