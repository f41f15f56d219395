package integration

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
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

// TestSlowStatements takes every statement for a slow one: they are told of without what they are about.
func TestSlowStatements(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s, told := openTold(t, cfg, time.Nanosecond)
		ctx := t.Context()
		createDocument(t, s.pastes, newDocument("planted-paste", "epoxy", "planted code"))
		if _, err := s.users.ByName(ctx, s.name); err != nil {
			t.Fatal(err)
		}
		if _, err := s.pastes.Update(ctx, auditlog.Entry{}, "planted-paste", retitle("planted", "planted")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.pastes.ActiveCount(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.tokens.ByOwner(ctx, "planted-owner"); err != nil {
			t.Fatal(err)
		}
		if err := s.pastes.CreateDocument(ctx, newDocument("planted-orphan", "planted-owner", "code")); err == nil {
			t.Error("an unknown owner was accepted")
		}
		for _, parts := range [][]string{
			{`INSERT INTO "pastes"`}, {`INSERT INTO "pasties"`}, {`FROM "users"`, "username_folded = "}, {`UPDATE "pastes"`},
			{`INSERT INTO "paste_edits"`}, {"SELECT (SELECT", "count(*)"}, {`FROM "access_tokens"`, "ORDER BY"},
		} {
			if len(told.with(parts...)) == 0 {
				t.Errorf("was not told of a statement with %q", parts)
			}
		}
		if isPostgres(cfg) && len(told.with(`UPDATE "pastes"`, "; COMMIT")) == 0 {
			t.Error("was not told how long a batch took")
		}
		for _, statement := range told.with("") {
			if statement.Duration <= 0 || statement.SQL == "" {
				t.Errorf("got %+v, want a statement and its duration", statement)
			}
		}
		for _, value := range []string{"planted", "epoxy", "Epoxy"} {
			if got := told.with(value); len(got) > 0 {
				t.Errorf("told of values: %+v", got)
			}
		}
	})
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

// TestSlowStatementWaitedForALock holds a lock until a change has waited for it as long as it may, which is longer than
// it takes to be slow.
func TestSlowStatementWaitedForALock(t *testing.T) {
	t.Parallel()
	const slow, wait = 100 * time.Millisecond, 200 * time.Millisecond
	cfg := database.WithParameter(t, database.Postgres(t), "lock_timeout", fmt.Sprint(wait.Milliseconds()))
	s, told := openTold(t, cfg, slow)
	tx, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // the test has ended
	exec(t, tx, "UPDATE users SET avatar_url = 'x' WHERE id = 'epoxy'")
	_, _, err = s.users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, "epoxy",
		func(*user.User, map[string]string) error {
			return nil
		})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want that the lock is taken", err)
	}
	if found := told.with("FOR UPDATE"); len(found) != 1 || found[0].Duration < slow {
		t.Errorf("got %+v, want one statement that waited for the lock", told.with(""))
	}
}
