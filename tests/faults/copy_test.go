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

// TestCopyKilled kills copies at several instants while their source changes. What each leaves, no server takes for a database;
// the next copy goes on from it, and the last ends with both sides equal.
func TestCopyKilled(t *testing.T) {
	const kills, pastes = 8, 60_000
	for name, empty := range map[string]func(testing.TB) gormstore.Config{"postgres": database.EmptyPostgres, "sqlite": database.EmptySQLite} {
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
				INSERT INTO pastes (id, owner_id, created_at) SELECT printf('p%%07d', n * 7919 %% 1000003), 'mortar01', n FROM n`, pastes))
			change(`INSERT INTO paste_contents (paste_id, lifetime, document) SELECT id, 'never', randomblob(500) FROM pastes
				WHERE id LIKE 'p%5' ON CONFLICT DO NOTHING`)
			args := []string{"copy", "--json", "--resume", "--from", string(source.URL), "--to", string(target.URL)}
			killed := 0
			for i := range kills {
				p := program.StartShipped(t, nil, args...)
				select {
				case <-p.Exited:
				case <-time.After(time.Duration(100+150*i) * time.Millisecond):
					_ = p.Cmd.Process.Kill()
					<-p.Exited
				}
				if p.Cmd.ProcessState.ExitCode() == -1 {
					killed++
				} else if code := p.Wait(); code != 0 {
					t.Fatalf("got exit code %d, want 0 or a kill: %s", code, &p.Stderr)
				}
				change(fmt.Sprintf(`DELETE FROM pastes WHERE id LIKE 'p%%%d9'`, i))
				change(fmt.Sprintf(`UPDATE pastes SET visibility = 1 - visibility WHERE id LIKE 'p%%%d1'`, i))
				change(fmt.Sprintf(`UPDATE users SET username = 'name%d' WHERE id = 'mortar01'`, i))
			}
			record(t, "copies killed", fmt.Sprintf("%d of %d", killed, kills), "")
			if killed == 0 {
				t.Error("got no copy that was killed, want some")
			}
			code, stdout, stderr := program.Run(t, nil, args...)
			if equal := strings.Count(stdout, `"equal":true`); code != 0 || equal != 7 {
				t.Fatalf("got exit code %d and %d tables that are equal, want 0 and 7: %s%s", code, equal, stdout, stderr)
			}
			var want int64
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pastes").Scan(&want); err != nil {
				t.Fatal(err)
			}
			// The counters that triggers keep are right, too.
			_, stats, _ := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + string(target.URL)}, "stats", "--json")
			if text := fmt.Sprintf(`"activePastes":%d,"expiredUnsweptPastes":1,`, want-1); !strings.Contains(stats, text) {
				t.Errorf("got %s, want %s in it", stats, text)
			}
		})
	}
}
