package faults

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// deadlocks returns how many deadlocks PostgreSQL has resolved in a database. A connection reports its deadlocks when
// it closes, at the latest.
func deadlocks(t *testing.T, db *sql.DB) int {
	t.Helper()
	return number(t, db, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
}

func number(t *testing.T, db *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: got %v, want a number", query, err)
	}
	return n
}

// TestLastUsesFromTwoNodes uses the same tokens on two nodes that store last-used times at short intervals. There must
// be no deadlocks, and the last use of each token must be stored.
func TestLastUsesFromTwoNodes(t *testing.T) {
	t.Parallel()
	const accounts = 200
	cfg := database.Postgres(t)
	db := database.SQL(t, cfg)
	export := newExport(accounts, 0)
	export.into(t, cfg)
	var (
		mu    sync.Mutex
		last  = make(map[string]time.Time) // by user, a moment before the last acknowledged use
		nodes []*program.Process
		loads []*runningLoad
	)
	for range 2 {
		node := serve(t, cfg.URL, "GLUEPOT_TOKEN_USE_INTERVAL=20ms")
		nodes = append(nodes, node)
		var questions []question
		for _, u := range export.users {
			questions = append(questions, question{"/user/self/pastes", u.key, func(status int, body string) bool {
				return status == http.StatusOK && body == "[]"
			}})
		}
		rand.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
		loads = append(loads, load{clients: 12, to: at(node.Address), questions: questions}.start(t))
	}
	time.Sleep(3 * time.Second)
	total := &tally{}
	for _, l := range loads {
		total.add(l.stop())
	}
	total.wantAllRight(t)
	// Once more, one after the other, to know the time.
	for i, u := range export.users {
		start := time.Now().Truncate(time.Microsecond)
		if status, body := nodes[i%2].Get("/user/self/pastes", u.key); status != http.StatusOK {
			t.Fatalf("got %d %s, want 200", status, body)
		}
		mu.Lock()
		last[u.id] = start
		mu.Unlock()
	}
	for _, node := range nodes {
		node.Signal(syscall.SIGTERM)
		if code := node.Wait(); code != 0 {
			t.Errorf("got exit code %d, want 0", code)
		}
	}
	missing := 0
	rows, err := db.QueryContext(t.Context(), "SELECT user_id, coalesce(last_used_at, 'epoch') FROM access_tokens")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err reports errors
	for rows.Next() {
		var owner string
		var lastUsed time.Time
		if err := rows.Scan(&owner, &lastUsed); err != nil {
			t.Fatal(err)
		}
		if lastUsed.Before(last[owner]) {
			missing++
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	count := deadlocks(t, db)
	record(t, "uses of tokens", total, "all right")
	record(t, "deadlocks", count, "0")
	record(t, "last uses not stored", fmt.Sprintf("%d of %d", missing, accounts), "0")
	if count > 0 || missing > 0 {
		t.Errorf("got %d deadlocks and %d last uses that were not stored, want none", count, missing)
	}
}

// TestTwoImportsAtOnce imports ever newer exports of the same installation in two processes at once. Both must succeed
// without a deadlock, and the result must be the newest export.
func TestTwoImportsAtOnce(t *testing.T) {
	t.Parallel()
	const users, pastes, rounds = 500, 3000, 4
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		db, failures := database.SQL(t, cfg), 0
		for round := range rounds {
			export := newExport(users, pastes)
			export.change(round)
			var processes []*program.Process
			for range 2 {
				export.shuffle() // each process reads the records in another order
				processes = append(processes, export.startImport(t, cfg))
			}
			for _, p := range processes {
				if code := wait(t, p); code != 0 {
					failures++
					t.Errorf("round %d: got exit code %d, want 0: %.1000s", round, code, &p.Stderr)
				}
			}
			if failures == 0 {
				export.check(t, db)
			}
		}
		record(t, "imports that failed", fmt.Sprintf("%d of %d", failures, 2*rounds), "0")
		if strings.HasPrefix(cfg.URL, "postgres") {
			record(t, "deadlocks", deadlocks(t, db), "0")
		}
	})
}

// importLimit is how long an import may take, even on a busy machine.
const importLimit = 5 * time.Minute

// wait waits for an import, and returns its exit code.
func wait(t *testing.T, p *program.Process) int {
	t.Helper()
	select {
	case <-p.Exited:
		return p.Cmd.ProcessState.ExitCode()
	case <-time.After(importLimit):
		t.Fatalf("got an import that still runs after %v, want it to exit", importLimit)
		return 0
	}
}

// export is a PasteMyst installation as mongoexport writes it, without odd records.
type export struct {
	users  []exportedUser
	pastes []map[string]any
}

type exportedUser struct {
	id, name, key, avatar string
	stars                 []string
}

// newExport returns an export in which every fourth paste is anonymous and none expires.
func newExport(users, pastes int) *export {
	e := &export{}
	for i := range users {
		u := exportedUser{id: fmt.Sprintf("u%07d", i), name: fmt.Sprint("User", i), key: fmt.Sprintf("%043d=", i)}
		for j := range min(3, pastes) {
			u.stars = append(u.stars, pasteID((i*3+j)%pastes))
		}
		e.users = append(e.users, u)
	}
	for i := range pastes {
		p := map[string]any{"_id": pasteID(i), "createdAt": 1_600_000_000 + i, "deletesAt": 0, "pasties": []any{
			map[string]any{"_id": "pasty001", "title": "", "language": "Go", "code": "package main"},
		}}
		if i%4 != 0 {
			p["ownerId"] = e.users[i%users].id
		}
		e.pastes = append(e.pastes, p)
	}
	return e
}

func pasteID(i int) string { return fmt.Sprintf("p%07d", i) }

// change makes every record differ from that of other rounds.
func (e *export) change(round int) {
	for i := range e.users {
		e.users[i].avatar = fmt.Sprint("https://example.com/round/", round)
	}
	for i := range e.pastes {
		e.pastes[i]["createdAt"] = 1_600_000_000 + round*1_000_000 + i
	}
}

func (e *export) shuffle() {
	rand.Shuffle(len(e.users), func(i, j int) { e.users[i], e.users[j] = e.users[j], e.users[i] })
	rand.Shuffle(len(e.pastes), func(i, j int) { e.pastes[i], e.pastes[j] = e.pastes[j], e.pastes[i] })
}

// lockPatience lets a command wait as long as others write to SQLite, even on a busy machine.
const lockPatience = "GLUEPOT_DATABASE_CONNECT_TIMEOUT=1m"

// startImport starts an import of the export.
func (e *export) startImport(t *testing.T, cfg gormstore.Config) *program.Process {
	t.Helper()
	folder := t.TempDir()
	users, keys, pastes := filepath.Join(folder, "users.json"), filepath.Join(folder, "keys.json"),
		filepath.Join(folder, "pastes.json")
	writeLines(t, users, len(e.users), func(i int) any {
		u := e.users[i]
		return map[string]any{"_id": u.id, "username": u.name, "avatarUrl": u.avatar, "publicProfile": true, "stars": u.stars,
			"serviceIds": map[string]string{"github": u.id}}
	})
	writeLines(t, keys, len(e.users), func(i int) any {
		return map[string]any{"_id": e.users[i].id, "key": e.users[i].key}
	})
	args := []string{"import", "pastemyst", "--json", "--rejects-dir", folder, "--users", users, "--api-keys", keys}
	if len(e.pastes) > 0 {
		writeLines(t, pastes, len(e.pastes), func(i int) any { return e.pastes[i] })
		args = append(args, "--pastes", pastes)
	}
	return program.Start(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, lockPatience}, args...)
}

// into imports the export.
func (e *export) into(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	if p := e.startImport(t, cfg); wait(t, p) != 0 {
		t.Fatalf("got a failed import, want a success: %s", &p.Stderr)
	}
}

// check compares the database with the export.
func (e *export) check(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, want := range []struct {
		what, query string
		number      int
	}{
		{"users", "SELECT count(*) FROM users", len(e.users)},
		{"tokens", "SELECT count(*) FROM access_tokens", len(e.users)},
		{"services", "SELECT count(*) FROM identities WHERE subject = user_id", len(e.users)},
		{"stars", "SELECT count(*) FROM stars", len(e.users) * min(3, len(e.pastes))},
		{"pastes", "SELECT count(*) FROM pastes", len(e.pastes)},
		{"pasties", "SELECT count(*) FROM pasties", len(e.pastes)},
		{"anonymous pastes", "SELECT count(*) FROM pastes WHERE owner_id IS NULL", (len(e.pastes) + 3) / 4},
		{"avatars of this round", "SELECT count(*) FROM users WHERE avatar_url = '" + e.users[0].avatar + "'", len(e.users)},
	} {
		if got := number(t, db, want.query); got != want.number {
			t.Errorf("got %d %s, want %d", got, want.what, want.number)
		}
	}
}

func writeLines(t *testing.T, path string, lines int, line func(int) any) {
	t.Helper()
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	for i := range lines {
		if err := encoder.Encode(line(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
