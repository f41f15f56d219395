package integration

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// statements are those that a store has told of.
type statements struct {
	mu  sync.Mutex
	all []gormstore.Statement
}

func (s *statements) tell(told gormstore.Statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, told)
}

// with returns those whose text has all of the parts.
func (s *statements) with(parts ...string) (found []gormstore.Statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, told := range s.all {
		has := true
		for _, part := range parts {
			has = has && strings.Contains(told.SQL, part)
		}
		if has {
			found = append(found, told)
		}
	}
	return found
}

// openTold opens a service that tells of statements from that duration on.
func openTold(t *testing.T, cfg gormstore.Config, threshold time.Duration) (*service, *statements) {
	t.Helper()
	told := new(statements)
	cfg.SlowStatement, cfg.OnSlowStatement = threshold, told.tell
	return openService(t, cfg), told
}

// wantTold checks that a statement was told of once, with how many rows it read or changed.
func (s *statements) wantTold(t *testing.T, rows int64, parts ...string) {
	t.Helper()
	found := s.with(parts...)
	if len(found) != 1 {
		t.Errorf("told of %d statements with %q, want 1: %+v", len(found), parts, found)
		return
	}
	if got := found[0]; got.Rows != rows || got.Duration <= 0 || strings.ContainsAny(got.SQL, "\n\t") {
		t.Errorf("got %+v, want %d rows, a duration and one line", got, rows)
	}
}

// TestSlowStatements takes every statement for a slow one: those of GORM and those of fixed SQL are told of.
func TestSlowStatements(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s, told := openTold(t, cfg, time.Nanosecond)
		queried, create := int64(1), "INSERT INTO pastes"               // a query that finds one row; fixed SQL that creates a paste
		update := []string{"INSERT INTO paste_contents", "ON CONFLICT"} // one of several statements that are sent together
		if strings.HasPrefix(string(cfg.URL), "sqlite") {
			queried, create, update = -1, `INSERT INTO "pastes"`, []string{`UPDATE "paste_contents"`}
		}
		ctx := t.Context()
		planted := paste.Document{Paste: paste.Paste{ID: "planted-paste", Owner: "epoxy", CreatedAt: time.Now()}}
		if err := s.pastes.CreateDocument(ctx, planted); err != nil {
			t.Fatal(err)
		}
		told.wantTold(t, 1, create)
		if _, err := s.users.ByName(ctx, s.name); err != nil {
			t.Fatal(err)
		}
		told.wantTold(t, queried, "FROM users u WHERE u.username_folded = $1")
		if err := s.pastes.Star(ctx, "epoxy", "planted-star"); err != nil {
			t.Fatal(err)
		}
		told.wantTold(t, 1, "INSERT INTO stars")
		if _, err := s.pastes.Update(ctx, planted.ID, token.Hash{}, func(_ token.Token, stored paste.Document) (paste.Change, error) {
			stored.Title = "planted"
			return paste.Change{Document: stored, Changed: true}, nil
		}); err != nil {
			t.Fatal(err)
		}
		told.wantTold(t, 1, update...)
		if _, err := s.tokens.ByOwner(ctx, "epoxy"); err != nil {
			t.Fatal(err)
		}
		told.wantTold(t, queried, `FROM "access_tokens"`, "ORDER BY")
		if _, err := s.pastes.ActiveCount(ctx); err != nil {
			t.Fatal(err)
		}
		told.wantTold(t, queried, "FROM pastes", "count(*)", "SELECT (SELECT")
		if _, err := s.users.Delete(ctx, s.name); err != nil {
			t.Fatal(err)
		}
		told.wantTold(t, 1, `DELETE FROM "users"`)
		if len(told.with("COMMIT")) == 0 && len(told.with("commit")) == 0 {
			t.Error("was not told of a commit, which waits for the disk")
		}

		// One that fails is told of, too, and nothing is told of values.
		if _, err := s.users.ByName(ctx, s.name); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v, want that there is no such user", err)
		}
		orphan := paste.Document{Paste: paste.Paste{ID: "planted-orphan", Owner: "planted-owner", CreatedAt: time.Now()}}
		if err := s.pastes.CreateDocument(ctx, orphan); err == nil {
			t.Error("an unknown owner was accepted")
		}
		if queried < 0 && len(told.with("ROLLBACK")) == 0 {
			t.Error("SQLite: was not told of a transaction that was taken back")
		}
		if got := told.with(create); len(got) != 2 || got[1].Rows != -1 {
			t.Errorf("got %+v, want one that failed besides the first", got)
		}
		if got := append(told.with("planted"), told.with("epoxy")...); len(got) > 0 {
			t.Errorf("told of values: %+v", got)
		}
	})
}

// TestSlowStatementIsCut imports: such a statement has thousands of placeholders.
func TestSlowStatementIsCut(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s, told := openTold(t, cfg, time.Nanosecond)
		specs := make([]string, 1000)
		for i := range specs {
			specs[i] = fmt.Sprintf("u%d=user%d", i, i)
		}
		if _, err := s.users.Import(t.Context(), accounts(t, specs...)); err != nil {
			t.Fatal(err)
		}
		told.wantTold(t, 1000, `INSERT INTO "users"`, "…")
		for _, statement := range told.with("") {
			if len(statement.SQL) > 1100 {
				t.Errorf("a text of %d bytes", len(statement.SQL))
			}
		}
	})
}

// TestCopyIsTold imports pastes, whose rows PostgreSQL gets by COPY.
func TestCopyIsTold(t *testing.T) {
	t.Parallel()
	s, told := openTold(t, database.Postgres(t), time.Nanosecond)
	imported := paste.Document{Paste: paste.Paste{ID: "copied", CreatedAt: time.Now()}}
	if _, err := s.pastes.Import(t.Context(), []paste.Document{imported}, paste.RefuseOrphans); err != nil {
		t.Fatal(err)
	}
	told.wantTold(t, 1, `COPY "pastes"`)
	told.wantTold(t, 1, `COPY "paste_contents"`)
}

// TestBatchIsToldOnce has lookups wait for each other, so that some share a statement.
func TestBatchIsToldOnce(t *testing.T) {
	t.Parallel()
	s, told := openTold(t, database.Postgres(t), time.Nanosecond)
	const lookups = 500
	var callers sync.WaitGroup
	for range lookups {
		callers.Go(func() {
			if _, err := s.users.StaleByName(t.Context(), s.name); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	alone, batches := told.with("FROM users u WHERE u.username_folded = $1"), told.with("unnest", "JOIN users")
	rows := int64(len(alone))
	for _, batch := range batches {
		rows += batch.Rows
	}
	if len(batches) == 0 || rows != lookups {
		t.Errorf("got %d statements by themselves and %d batches with %d rows in all, want a row for each of %d lookups",
			len(alone), len(batches), rows, lookups)
	}
}

// TestNoStatementIsSlow tells of none where it is turned off, and of none that is faster than it takes to be slow.
func TestNoStatementIsSlow(t *testing.T) {
	t.Parallel()
	for _, threshold := range []time.Duration{0, time.Hour} {
		t.Run(threshold.String(), func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				s, told := openTold(t, cfg, threshold)
				for _, look := range s.lookups() {
					if err := look(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if got := told.with(""); len(got) > 0 {
					t.Errorf("told of %+v", got)
				}
			})
		})
	}
}

// TestTimingStatementsAllocatesNothing counts allocations, which cannot be done beside other tests.
func TestTimingStatementsAllocatesNothing(t *testing.T) {
	for what, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": database.Postgres, "sqlite": database.SQLite} {
		allocations := func(threshold time.Duration) float64 {
			s, _ := openTold(t, provide(t), threshold)
			return testing.AllocsPerRun(100, func() {
				if _, err := s.users.StaleByName(t.Context(), s.name); err != nil {
					t.Fatal(err)
				}
			})
		}
		// A collection in between empties pools, which is nobody's allocation.
		var without, with float64
		for range 5 {
			if without, with = allocations(0), allocations(time.Hour); with <= without {
				break
			}
		}
		if with > without {
			t.Errorf("%s: %v allocations for a profile when statements are timed, %v when not", what, with, without)
		}
	}
}

// TestSlowStatementWaitedForALock holds a lock until a change has waited for it as long as it may, which is longer than it
// takes to be slow.
func TestSlowStatementWaitedForALock(t *testing.T) {
	t.Parallel()
	const slow, wait = 100 * time.Millisecond, 200 * time.Millisecond
	for name, test := range map[string]struct {
		cfg       gormstore.Config
		statement string
	}{
		"postgres": {withParameter(t, database.Postgres(t), "lock_timeout", fmt.Sprint(wait.Milliseconds())), "FOR UPDATE"},
		"sqlite":   {database.SQLite(t), "BEGIN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := test.cfg
			if name == "sqlite" {
				cfg.ConnectTimeout = wait
			}
			s, told := openTold(t, cfg, slow)
			tx, err := s.db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() //nolint:errcheck // the test has ended
			exec(t, tx, "UPDATE users SET avatar_url = 'x' WHERE id = 'epoxy'")
			_, _, err = s.users.Update(t.Context(), s.name, func(*user.User, map[string]string) error { return nil })
			if !fault.Is(err, fault.Unavailable) {
				t.Errorf("got %v, want that somebody else has the lock", err)
			}
			found := told.with(test.statement)
			if len(found) != 1 || found[0].Duration < slow {
				t.Errorf("got %+v, want one statement with %q that waited", told.with(""), test.statement)
			}
		})
	}
}
