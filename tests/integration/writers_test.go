package integration

import (
	"database/sql"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
)

// Concurrent writers and batches.

func parseName(t *testing.T, s string) user.Name {
	t.Helper()
	name, err := user.ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// newAccounts returns an account for each "id=name".
func newAccounts(t *testing.T, specs ...string) []user.Import {
	t.Helper()
	accounts := make([]user.Import, len(specs))
	for i, spec := range specs {
		id, name, _ := strings.Cut(spec, "=")
		accounts[i] = user.Import{ID: user.ID(id), Name: parseName(t, name), DefaultLanguage: new("Go"),
			CreatedAt: time.Now()}
	}
	return accounts
}

// newTokens returns a token of the user "owner" for each "id=secret".
func newTokens(specs ...string) []token.Token {
	tokens := make([]token.Token, len(specs))
	for i, spec := range specs {
		id, secret, _ := strings.Cut(spec, "=")
		parsed, _ := token.ParseSecret(secret)
		tokens[i] = token.Token{ID: token.ID(id), Owner: "owner", Hash: parsed.Hash(), CreatedAt: time.Now()}
	}
	return tokens
}

// each is like database.Each, for writers that may wait long for each other.
func each(t *testing.T, test func(t *testing.T, cfg gormstore.Config)) {
	t.Helper()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		cfg.ConnectTimeout = 3 * time.Minute
		test(t, cfg)
	})
}

// outcomes returns a letter for each result: N (new), U (updated), = (unchanged), ! (refused).
func outcomes(t *testing.T, results []batch.Result, err error) string {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	text := ""
	for _, r := range results {
		switch {
		case r.Err != nil:
			text += "!"
		default:
			text += map[batch.Outcome]string{batch.New: "N", batch.Updated: "U", batch.Unchanged: "="}[r.Outcome]
		}
	}
	return text
}

func column(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return values
}

// TestOneRecordCostsItself checks that a record that breaks a constraint of the database fails alone.
func TestOneRecordCostsItself(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		users, db := gormstore.NewUsers(database.Open(t, cfg)), database.SQL(t, cfg)
		exec(t, db, "CREATE UNIQUE INDEX odd ON users (avatar_url)")
		accounts := newAccounts(t, "a=a", "b=b", "c=c", "d=d")
		for i, avatar := range []string{"one", "two", "one", "three"} {
			accounts[i].AvatarURL = &avatar
		}
		results, err := users.Import(t.Context(), accounts)
		if got := outcomes(t, results, err); got != "NN!N" {
			t.Errorf("got %s, want NN!N", got)
		}
		if !fault.Is(results[2].Err, fault.Conflict) || !strings.Contains(fault.MessageOf(results[2].Err),
			"Import the record again") {
			t.Errorf("got %v, want a conflict that says to import the record again", results[2].Err)
		}
		if got := column(t, db, "SELECT id FROM users ORDER BY id"); !slices.Equal(got, []string{"a", "b", "d"}) {
			t.Errorf("got %v, want a, b and d", got)
		}
	})
}

// begin starts a transaction of another writer. deadlockTimeout is how long it waits for a lock before it looks for a
// deadlock.
func begin(t *testing.T, db *sql.DB, deadlockTimeout string) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() }) // does nothing after a commit
	exec(t, tx, "SET LOCAL deadlock_timeout = '"+deadlockTimeout+"'")
	return tx
}

// waitForWaiters waits until this many sessions of the database wait for a lock.
func waitForWaiters(t *testing.T, db *sql.DB, count int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var waiting int
		query := "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
		if err := db.QueryRow(query).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting >= count {
			return
		}
	}
	t.Fatalf("got fewer sessions that wait for a lock, want %d", count)
}

// TestImportBesideANewUser creates a user after an import has checked who has the name.
func TestImportBesideANewUser(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	users, db := gormstore.NewUsers(database.Open(t, cfg)), database.SQL(t, cfg)
	results, err := users.Import(t.Context(), newAccounts(t, "a=y", "b=x", "c=w"))
	outcomes(t, results, err)
	other := begin(t, db, "1min")
	exec(t, other, `INSERT INTO users (id, username, avatar_url, default_language, public_profile,
		supporter_months, contributor, created_at)
		VALUES ('late', 'Z', '', '', true, 0, false, now())`)
	done := make(chan string)
	go func() {
		results, err := users.Import(t.Context(), newAccounts(t, "a=x", "b=z", "c=v", "d=u"))
		done <- fmt.Sprint(outcomes(t, results, err))
	}()
	waitForWaiters(t, db, 1)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != "!!UN" {
		t.Errorf("got %s, want !!UN", got)
	}
	want := []string{"a=y", "b=x", "c=v", "d=u", "late=Z"}
	if got := column(t, db, "SELECT id || '=' || username FROM users ORDER BY id"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestImportBesideANewPaste stores a paste after an import has checked which exist.
func TestImportBesideANewPaste(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
	documents := make([]paste.Document, 3)
	for i := range documents {
		documents[i].Paste = paste.Paste{ID: paste.ID(fmt.Sprint("p", i)), CreatedAt: time.Unix(1, 0)}
		documents[i].Title = "imported"
		documents[i].Edits = []paste.Edit{{ID: "e", Type: paste.EditTitle, Text: "before", At: time.Unix(1, 0)}}
	}
	other := begin(t, db, "1min")
	exec(t, other, insertPastes("id, created_at", "'p1', now()"))
	exec(t, other, "UPDATE pastes SET pasties = 1, edits = 1")
	exec(t, other, "INSERT INTO pasties VALUES ('p1', 0, 'late', 'late', '', 'late')")
	exec(t, other, "INSERT INTO paste_edits VALUES ('p1', 7, 'late', 0, 0, '[]', 'late', now())")
	done := make(chan string)
	go func() {
		results, err := pastes.Import(t.Context(), contract.Whole(documents...), paste.RefuseOrphans)
		done <- outcomes(t, results, err)
	}()
	waitForWaiters(t, db, 1)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != "NUN" {
		t.Errorf("got %s, want NUN", got)
	}
	for _, want := range documents {
		got, err := pastes.DocumentByID(t.Context(), want.ID)
		if err != nil || got.Title != want.Title || len(got.Edits) != 1 || got.Edits[0].Text != "before" {
			t.Errorf("%s: got %+v, error %v, want the imported paste", want.ID, got, err)
		}
	}
}

// TestVictimOfADeadlock makes PostgreSQL abort an import in favour of a transaction that locks rows in another order.
func TestVictimOfADeadlock(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	users, db := gormstore.NewUsers(database.Open(t, cfg)), database.SQL(t, cfg)
	results, err := users.Import(t.Context(), newAccounts(t, "a=a", "b=b"))
	outcomes(t, results, err)
	other := begin(t, db, "1min")
	exec(t, other, "UPDATE users SET contributor = true WHERE id = 'b'")
	done := make(chan string)
	go func() {
		results, err := users.Import(t.Context(), newAccounts(t, "b=b2", "a=a2"))
		done <- outcomes(t, results, err)
	}()
	waitForWaiters(t, db, 1)
	exec(t, other, "UPDATE users SET contributor = true WHERE id = 'a'")
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != "UU" {
		t.Errorf("got %s, want UU", got)
	}
}

// wantNoDeadlocks checks that PostgreSQL resolved no deadlocks.
func wantNoDeadlocks(t *testing.T, db *sql.DB) {
	t.Helper()
	exec(t, db, "SELECT pg_stat_force_next_flush()")
	var deadlocks int
	err := db.QueryRow("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").Scan(&deadlocks)
	if err != nil || deadlocks != 0 {
		t.Errorf("got %d deadlocks, error %v, want none", deadlocks, err)
	}
}

// TestRevokingBesideImport revokes a token while an import gives it another secret. It must be revoked afterwards.
func TestRevokingBesideImport(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.ConnectTimeout = time.Minute
	store, db := database.Open(t, cfg), database.SQL(t, cfg)
	tokens := gormstore.NewTokens(store)
	results, err := gormstore.NewUsers(store).Import(t.Context(), newAccounts(t, "owner=owner"))
	outcomes(t, results, err)
	results, err = tokens.Import(t.Context(), newTokens("a=1", "b=2"))
	outcomes(t, results, err)
	other := begin(t, db, "1min")
	// The import has locked the other token when it waits for this one.
	exec(t, other, "SELECT FROM access_tokens WHERE id = 'b' FOR UPDATE")
	var callers sync.WaitGroup
	callers.Go(func() {
		results, err := tokens.Import(t.Context(), newTokens("a=3", "b=4"))
		if got := outcomes(t, results, err); got != "UU" {
			t.Errorf("got %s, want UU", got)
		}
	})
	waitForWaiters(t, db, 1)
	callers.Go(func() {
		if err := tokens.Revoke(t.Context(), netip.Addr{}, auditlog.Entry{}, "a", time.Now()); err != nil {
			t.Errorf("got %v, want no error", err)
		}
	})
	waitForWaiters(t, db, 2)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	callers.Wait()
	if got := column(t, db, "SELECT id FROM access_tokens WHERE revoked_at IS NOT NULL"); !slices.Equal(got,
		[]string{"a"}) {
		t.Errorf("got the revoked tokens %v, want a", got)
	}
}

// TestNodesStoreLastUses stores last-used times of the same tokens on two nodes, beside an import of these tokens.
func TestNodesStoreLastUses(t *testing.T) {
	t.Parallel()
	const count, rounds = 300, 15
	each(t, func(t *testing.T, cfg gormstore.Config) {
		db, start := database.SQL(t, cfg), time.Now().Truncate(time.Second)
		specs := make([]string, count)
		for i := range specs {
			specs[i] = fmt.Sprintf("k%03d=secret%d", i, i)
		}
		first := database.Open(t, cfg)
		results, err := gormstore.NewUsers(first).Import(t.Context(), newAccounts(t, "owner=owner"))
		outcomes(t, results, err)
		results, err = gormstore.NewTokens(first).Import(t.Context(), newTokens(specs...))
		outcomes(t, results, err)
		var nodes sync.WaitGroup
		for node := range 3 {
			tokens := gormstore.NewTokens(database.Open(t, cfg))
			nodes.Go(func() {
				for round := range rounds {
					if node == 2 {
						other := slices.Clone(specs)
						slices.Reverse(other)
						for i := range other {
							other[i] += fmt.Sprint("-", round)
						}
						results, err := tokens.Import(t.Context(), newTokens(other...))
						outcomes(t, results, err)
						continue
					}
					uses := make(map[token.ID]time.Time)
					for i := range count {
						uses[token.ID(fmt.Sprintf("k%03d", i))] = start.Add(time.Duration(round) * time.Second)
					}
					if err := tokens.SetLastUsed(t.Context(), uses); err != nil {
						t.Error(err)
					}
				}
			})
		}
		nodes.Wait()
		if isPostgres(cfg) {
			wantNoDeadlocks(t, db)
		}
	})
}

// TestImportsAtOnce runs two imports of the same records in opposite orders.
func TestImportsAtOnce(t *testing.T) {
	t.Parallel()
	const count, rounds = 100, 8
	each(t, func(t *testing.T, cfg gormstore.Config) {
		db := database.SQL(t, cfg)
		var imports sync.WaitGroup
		for n := range 2 {
			users := gormstore.NewUsers(database.Open(t, cfg))
			imports.Go(func() {
				for round := range rounds {
					specs := make([]string, count)
					for i := range specs {
						specs[i] = fmt.Sprintf("u%03d=name%03d-%d", i, i, round*(n+1))
					}
					if n == 1 {
						slices.Reverse(specs)
					}
					results, err := users.Import(t.Context(), newAccounts(t, specs...))
					if got := outcomes(t, results, err); strings.Contains(got, "!") {
						t.Errorf("round %d: got %s, want no refusals", round, got)
					}
				}
			})
		}
		imports.Wait()
		if got := column(t, db, "SELECT username FROM users"); len(got) != count {
			t.Errorf("got %d users, want %d", len(got), count)
		}
		if isPostgres(cfg) {
			wantNoDeadlocks(t, db)
		}
	})
}

// TestStarBesideImport writes the same star by hand and by an import.
func TestStarBesideImport(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, cfg gormstore.Config) {
		store := database.Open(t, cfg)
		users, pastes := gormstore.NewUsers(store), gormstore.NewPastes(store)
		account := newAccounts(t, "a=a")
		results, err := users.Import(t.Context(), account)
		outcomes(t, results, err)
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				for range 20 {
					if err := pastes.Star(t.Context(), netip.Addr{}, "a", "p"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for round := range 20 {
			account[0].Stars = nil
			if round%2 == 0 {
				account[0].Stars = []string{"p"}
			}
			results, err := users.Import(t.Context(), account)
			outcomes(t, results, err)
		}
		callers.Wait()
	})
}

// TestChangesFollowAMovingName changes a user by id while an import gives the user's name to another. The change must
// apply to the user with that id.
func TestChangesFollowAMovingName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		_, err := s.users.Import(t.Context(), newAccounts(t, "a=left", "b=right"))
		if err != nil {
			t.Fatal(err)
		}
		tx, err := s.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback() //nolint:errcheck // does nothing after a commit
		exec(t, tx, "UPDATE users SET username = 'moving' WHERE id = 'a'")
		exec(t, tx, "UPDATE users SET username = 'left' WHERE id = 'b'")
		exec(t, tx, "UPDATE users SET username = 'right' WHERE id = 'a'")
		done := make(chan error, 1)
		var changed user.User
		go func() {
			var err error
			changed, _, err = s.users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, "a",
				func(u *user.User, _ map[string]string) error {
					u.Contributor = true
					return nil
				})
			done <- err
		}()
		if isPostgres(cfg) {
			for s.sessions(t, "wait_event_type = 'Lock'") == 0 {
				select {
				case err := <-done:
					t.Fatalf("got %v, want an update that waits for the import", err)
				case <-time.After(5 * time.Millisecond):
				}
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || changed.ID != "a" || changed.Name.String() != "right" {
			t.Errorf("got %+v, %v, want the user a with the new name", changed, err)
		}
	})
}
