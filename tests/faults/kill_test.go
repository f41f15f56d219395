package faults

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// onEachToKill is like onEach, with a function that kills the PostgreSQL server and starts it again. It does nothing on
// SQLite, which runs in the process.
func onEachToKill(t *testing.T, scenario func(t *testing.T, cfg gormstore.Config, kill func())) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) {
		server := database.StartBreakable(t)
		scenario(t, server.Config, func() {
			server.Kill(t)
			server.Start(t)
		})
	})
	t.Run("sqlite", func(t *testing.T) { scenario(t, database.SQLite(t), func() {}) })
}

// writes are the writes of one writer, who uses the operator's commands. A command that was killed, or failed because
// the database was killed, has written all or nothing.
type writes struct {
	settings []string
	number   int
	commands int
	killed   int
	failed   int
	users    []*writtenUser
	secrets  map[string]string // names of users by their tokens
	pastes   []string          // acknowledged ids
}

type writtenUser struct {
	name         string
	acknowledged bool
	months       []int // that the user may have: the last acknowledged number, and later attempts
}

// command runs a command, and kills it at a random instant half of the time. It returns the output of a success.
func (w *writes) command(t *testing.T, line string) (stdout string, acknowledged bool) {
	w.commands++
	p := program.Start(t, w.settings, strings.Fields(line)...)
	if rand.IntN(2) == 0 {
		select {
		case <-p.Exited:
		case <-time.After(rand.N(80 * time.Millisecond)):
			_ = p.Cmd.Process.Kill()
		}
	}
	select {
	case <-p.Exited:
	case <-time.After(program.Patience):
		t.Errorf("%s: got a command that still runs after %v, want it to exit", line, program.Patience)
		_ = p.Cmd.Process.Kill()
		<-p.Exited
	}
	switch p.Cmd.ProcessState.ExitCode() {
	case 0:
		return strings.TrimSpace(p.Stdout.String()), true
	case -1:
		w.killed++
	default:
		w.failed++
		time.Sleep(20 * time.Millisecond) // give the database time to start
	}
	return "", false
}

// step writes once more.
func (w *writes) step(t *testing.T) {
	var acknowledged []*writtenUser
	for _, u := range w.users {
		if u.acknowledged {
			acknowledged = append(acknowledged, u)
		}
	}
	if len(acknowledged) == 0 || rand.IntN(3) == 0 {
		u := &writtenUser{name: fmt.Sprintf("writer%d.%d", w.number, len(w.users)), months: []int{len(w.users)}}
		w.users = append(w.users, u)
		_, u.acknowledged = w.command(t,
			fmt.Sprintf("user create %s --supporter-months %d --service github=%s --service gitlab=%s", u.name,
				u.months[0], u.name, u.name))
		return
	}
	u := acknowledged[rand.IntN(len(acknowledged))]
	switch rand.IntN(3) {
	case 0:
		if stdout, ok := w.command(t, "token issue "+u.name); ok {
			w.secrets[stdout[strings.LastIndexByte(stdout, '\n')+1:]] = u.name
		}
	case 1:
		if stdout, ok := w.command(t, "paste create --json --owner "+u.name); ok {
			var created struct {
				ID string `json:"_id"`
			}
			if err := json.Unmarshal([]byte(stdout), &created); err != nil {
				t.Errorf("got %q, want JSON: %v", stdout, err)
			}
			w.pastes = append(w.pastes, created.ID)
		}
	case 2:
		months := 1000 + w.commands
		if _, ok := w.command(t, fmt.Sprintf("user update %s --supporter-months %d", u.name, months)); ok {
			u.months = nil
		}
		u.months = append(u.months, months)
	}
}

// TestKilledWhileWriting kills the operator's commands, a sweeping node and PostgreSQL at random instants. Acknowledged
// writes must be stored, nothing may be half done, and counts must be exact.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	const expired, enoughNodes, enoughCommands = 100_000, 8, 80
	onEachToKill(t, func(t *testing.T, cfg gormstore.Config, kill func()) {
		settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}
		insertPastes(t, cfg, "expired", expired, time.Now().Add(-time.Hour))
		var (
			writers  [3]*writes
			callers  sync.WaitGroup
			done     = make(chan struct{})
			commands atomic.Int64 // that have run
		)
		for i := range writers {
			writers[i] = &writes{settings: settings, number: i, secrets: map[string]string{}}
			callers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						writers[i].step(t)
						commands.Add(1)
					}
				}
			})
		}
		gluepot(t, cfg.URL, "user create documents")
		output := strings.TrimSpace(gluepot(t, cfg.URL, "token issue documents"))
		documents := startDocuments(t, output[strings.LastIndexByte(output, '\n')+1:])
		stop := sync.OnceFunc(func() {
			close(done)
			close(documents.stop)
			callers.Wait()
			documents.writer.Wait()
		})
		defer stop()
		nodes, kills := 0, 0
		for ; nodes < enoughNodes || commands.Load() < enoughCommands; nodes++ {
			p := program.Start(t, append(settings, "GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_SWEEP_INTERVAL=10ms"), "serve")
			p.WaitForAddress()
			documents.address.Store(&p.Address)
			time.Sleep(200*time.Millisecond + rand.N(time.Second))
			if nodes%2 == 1 {
				kill()
				kills++
			}
			_ = p.Cmd.Process.Kill()
			<-p.Exited
			documents.address.Store(nil)
			documents.check(t, cfg)
		}
		stop()
		documents.check(t, cfg)

		db := database.SQL(t, cfg)
		node := serve(t, cfg.URL, "GLUEPOT_SWEEP_INTERVAL=0")
		total := writes{}
		tokens, lost, half := 0, 0, 0
		for _, w := range writers {
			total.commands += w.commands
			total.killed += w.killed
			total.failed += w.failed
			total.users = append(total.users, w.users...)
			total.pastes = append(total.pastes, w.pastes...)
			tokens += len(w.secrets)
			for secret, name := range w.secrets {
				if status, body := node.Get("/user/self", secret); status != http.StatusOK ||
					!strings.Contains(body, `"username":"`+name+`"`) {
					lost++
					t.Errorf("a token of %s: got %d %s, want 200 and that name", name, status, body)
				}
			}
		}
		acknowledged := 0
		for _, u := range total.users {
			var months, services int
			err := db.QueryRowContext(t.Context(), `SELECT supporter_months,
					(SELECT count(*) FROM identities WHERE user_id = id AND subject = username)
				FROM users WHERE username = $1`, u.name).Scan(&months, &services)
			if u.acknowledged {
				acknowledged++
			}
			switch {
			case err != nil && u.acknowledged:
				lost++
				t.Errorf("%s: got %v, want the acknowledged user", u.name, err)
			case err == nil && services != 2:
				half++
				t.Errorf("%s: got %d services, want 2", u.name, services)
			case err == nil && !slices.Contains(u.months, months):
				lost++
				t.Errorf("%s: got %d months, want one of %v", u.name, months, u.months)
			}
		}
		for _, id := range total.pastes {
			if number(t, db, "SELECT count(*) FROM pastes WHERE id = $1", id) != 1 {
				lost++
				t.Errorf("the paste %s: got no row, want one", id)
			}
		}
		// Pastes that were not acknowledged are not half done either.
		half += documents.halfs + number(t, db, `SELECT count(*) FROM pastes p WHERE p.id NOT LIKE 'expired%'
			AND (p.edits <> (SELECT count(*) FROM paste_edits e WHERE e.paste_id = p.id)
				OR p.pasties <> (SELECT count(*) FROM pasties y WHERE y.paste_id = p.id))`)
		lost += documents.lost
		if half > 0 {
			t.Errorf("got %d half-done users and pastes, want none", half)
		}
		remaining := number(t, db, "SELECT count(*) FROM pastes WHERE id LIKE 'expired%'")
		record(t, "pastes with content created, edited, unacknowledged", fmt.Sprint(documents.created, ", ",
			documents.edited, ", ",
			documents.unacknowledged), "")
		record(t, "commands run, killed, failed", fmt.Sprint(total.commands, ", ", total.killed, ", ", total.failed), "")
		record(t, "nodes killed, PostgreSQL killed", fmt.Sprint(nodes, ", ", kills), "")
		record(t, "users, tokens, pastes acknowledged", fmt.Sprint(acknowledged, ", ", tokens, ", ", len(total.pastes)), "")
		record(t, "of them lost, half-done", fmt.Sprint(lost, ", ", half), "0, 0")
		record(t, "expired pastes left by killed sweeps", fmt.Sprint(remaining, " of ", expired), "")
		wantExactCounts(t, cfg, db, node)
	})
}

// insertPastes stores anonymous pastes that expire at expiry.
func insertPastes(t *testing.T, cfg gormstore.Config, prefix string, count int, expiry time.Time) {
	t.Helper()
	query := insertInto("id, created_at, expires_at", "$1 || n, now(), $2::timestamptz FROM generate_series(1, $3) n")
	at := any(expiry)
	if onSQLite(cfg) {
		query = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $3)
			` + insertInto("id, created_at, expires_at", "$1 || n, 0, $2 FROM numbers")
		at = expiry.UnixMicro()
	}
	if _, err := database.SQL(t, cfg).ExecContext(t.Context(), query, prefix, at, count); err != nil {
		t.Fatal(err)
	}
}

// wantExactCounts compares the counts that the node answers and that the database stores with the rows.
func wantExactCounts(t *testing.T, cfg gormstore.Config, db *sql.DB, node *program.Process) {
	t.Helper()
	rows := number(t, db, "SELECT count(*) FROM pastes")
	stored := rows
	if onSQLite(cfg) {
		var integrity string
		if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&integrity); err != nil ||
			integrity != "ok" {
			t.Errorf("integrity: got %q, error %v, want ok", integrity, err)
		}
	} else {
		stored = number(t, db, "SELECT sum(pastes) FROM paste_counts")
	}
	now := any(time.Now())
	if onSQLite(cfg) {
		now = time.Now().UnixMicro()
	}
	active := number(t, db, "SELECT count(*) FROM pastes WHERE expires_at IS NULL OR expires_at > $1", now)
	_, answer := node.Get("/data/numPastes", "")
	record(t, "pastes, as the database counts them", fmt.Sprint(rows, ", ", stored), "the same")
	record(t, "active pastes, answered", fmt.Sprint(active, ", ", answer), "the same")
	if stored != rows || answer != fmt.Sprintf(`{"numPastes":%d}`, active) {
		t.Errorf("got %d pastes in the database's counts and the answer %s, want %d and %d active", stored,
			answer, rows, active)
	}
}

// TestKilledWhileImporting kills imports, or PostgreSQL during them, at random instants, and then lets one finish.
// Stored records must stay, nothing may be half done, and the result must be the export.
func TestKilledWhileImporting(t *testing.T) {
	t.Parallel()
	const users, pastes, kills = 1000, 16_000, 4
	export := newExport(users, pastes)
	onEachToKill(t, func(t *testing.T, cfg gormstore.Config, kill func()) {
		db := database.SQL(t, cfg)
		db.SetMaxIdleConns(0) // it need not survive the server
		records := func() int {
			return number(t, db, `SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM access_tokens)
				+ (SELECT count(*) FROM pastes)`)
		}
		interrupted, stored, half := 0, 0, 0
		for round := range kills {
			p := export.startImport(t, cfg)
			exited := func() bool {
				select {
				case <-p.Exited:
					return true
				default:
					return false
				}
			}
			// It is killed after some progress, which depends less on the machine than time.
			target := stored + 1 + rand.IntN((2*users+pastes)/kills)
			for deadline := time.Now().Add(importLimit); !exited() && records() < target; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) { // the import must have passed the records stored before
					t.Fatalf("got %d records, want %d", records(), target)
				}
			}
			time.Sleep(rand.N(50 * time.Millisecond))
			if round%2 == 1 {
				kill()
			}
			if round%2 == 0 || onSQLite(cfg) {
				_ = p.Cmd.Process.Kill()
			}
			if code := wait(t, p); code != 0 {
				interrupted++
			}
			before := stored
			stored = records()
			if stored < before {
				t.Errorf("got %d records, want at least %d as before", stored, before)
			}
			if n := number(t, db, `SELECT count(*) FROM users u WHERE (SELECT count(*) FROM identities WHERE user_id = u.id) <> 1
				OR (SELECT count(*) FROM stars WHERE user_id = u.id) <> 3`); n > 0 {
				half += n
				t.Errorf("got %d half-stored users, want none", n)
			}
		}
		final := export.startImport(t, cfg)
		if code := wait(t, final); code != 0 {
			t.Fatalf("got exit code %d, want 0: %s", code, &final.Stderr)
		}
		export.check(t, db)
		record(t, "interrupted imports", fmt.Sprintf("%d of %d", interrupted, kills), "")
		record(t, "half-stored users", half, "0")
		record(t, "records stored before the last import", fmt.Sprintf("%d of %d", stored, 2*users+pastes), "")
		wantExactCounts(t, cfg, db, serve(t, cfg.URL, "GLUEPOT_SWEEP_INTERVAL=0"))
	})
}
