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

// statementRecorder records the slow statements of a store.
type statementRecorder struct {
	mu         sync.Mutex
	statements []gormstore.Statement
}

func (r *statementRecorder) record(statement gormstore.Statement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements = append(r.statements, statement)
}

// with returns the statements whose SQL contains all parts.
func (r *statementRecorder) with(parts ...string) (matches []gormstore.Statement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, statement := range r.statements {
		ok := true
		for _, part := range parts {
			ok = ok && strings.Contains(statement.SQL, part)
		}
		if ok {
			matches = append(matches, statement)
		}
	}
	return matches
}

// openRecorded opens a service with a recorder of the statements that take at least threshold.
func openRecorded(t *testing.T, cfg gormstore.Config, threshold time.Duration) (*service, *statementRecorder) {
	t.Helper()
	recorder := new(statementRecorder)
	cfg.SlowStatement, cfg.OnSlowStatement = threshold, recorder.record
	return openService(t, cfg), recorder
}

// TestSlowStatements counts every statement as slow, and checks that none is reported with its values.
func TestSlowStatements(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s, recorder := openRecorded(t, cfg, time.Nanosecond)
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
			t.Error("got no error for an unknown owner, want one")
		}
		for _, parts := range [][]string{
			{`INSERT INTO "pastes"`}, {`INSERT INTO "pasties"`}, {`FROM "users"`, "username_folded = "}, {`UPDATE "pastes"`},
			{`INSERT INTO "paste_edits"`}, {"SELECT (SELECT", "count(*)"}, {`FROM "access_tokens"`, "ORDER BY"},
		} {
			if len(recorder.with(parts...)) == 0 {
				t.Errorf("got no statement with %q, want one", parts)
			}
		}
		if isPostgres(cfg) && len(recorder.with(`UPDATE "pastes"`, "; COMMIT")) == 0 {
			t.Error("got no batch, want one with its duration")
		}
		for _, statement := range recorder.with("") {
			if statement.Duration <= 0 || statement.SQL == "" {
				t.Errorf("got %+v, want a statement and its duration", statement)
			}
		}
		for _, value := range []string{"planted", "epoxy", "Epoxy"} {
			if got := recorder.with(value); len(got) > 0 {
				t.Errorf("got the values in %+v, want none", got)
			}
		}
	})
}

// TestNoStatementIsSlow checks that nothing is reported without a threshold, or below it.
func TestNoStatementIsSlow(t *testing.T) {
	t.Parallel()
	for _, threshold := range []time.Duration{0, time.Hour} {
		t.Run(threshold.String(), func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				s, recorder := openRecorded(t, cfg, threshold)
				for _, look := range s.lookups() {
					if err := look(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if got := recorder.with(""); len(got) > 0 {
					t.Errorf("got %+v, want no statements", got)
				}
			})
		})
	}
}

// TestSlowStatementWaitedForALock checks that a statement that waited for a lock is reported.
func TestSlowStatementWaitedForALock(t *testing.T) {
	t.Parallel()
	const slow, wait = 100 * time.Millisecond, 200 * time.Millisecond
	cfg := database.WithParameter(t, database.Postgres(t), "lock_timeout", fmt.Sprint(wait.Milliseconds()))
	s, recorder := openRecorded(t, cfg, slow)
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
		t.Errorf("got %v, want fault.Unavailable", err)
	}
	if matches := recorder.with("FOR UPDATE"); len(matches) != 1 || matches[0].Duration < slow {
		t.Errorf("got %+v, want one statement that waited for the lock", recorder.with(""))
	}
}
