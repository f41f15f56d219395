package embedding_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// observed returns a logger whose entries are kept, and a function that waits for one with a message.
func observed(t *testing.T) (*zap.Logger, *observer.ObservedLogs, func(message string) observer.LoggedEntry) {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	written := make(chan struct{}, 1)
	log := zap.New(core, zap.Hooks(func(zapcore.Entry) error {
		select {
		case written <- struct{}{}:
		default:
		}
		return nil
	}))
	return log, logs, func(message string) observer.LoggedEntry {
		t.Helper()
		deadline := time.After(patience)
		for {
			if found := logs.FilterMessage(message).All(); len(found) > 0 {
				return found[0]
			}
			select {
			case <-written:
			case <-deadline:
				t.Fatalf("got %v, want an entry %q", logs.All(), message)
			}
		}
	}
}

// What goes wrong in the background is known to the logger only.
func TestLoggerTakesWhatFailsInTheBackground(t *testing.T) {
	log, _, waitFor := observed(t)
	cfg := sqlite(t)
	cfg.Logger, cfg.UseInterval, cfg.SweepInterval = log, 10*time.Millisecond, 10*time.Millisecond
	gluepot, stop, err := bootstrap.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t.Context()) //nolint:errcheck // what was not stored is lost
	if err := os.Remove(database.SQLitePath(cfg.Database)); err != nil {
		t.Fatal(err)
	}
	gluepot.Tokens.Uses.RecordUse("a token", time.Now())
	for _, message := range []string{"last-used times are not stored yet", "sweep"} {
		entry := waitFor(message)
		if entry.Level != zap.WarnLevel {
			t.Errorf("%s: got level %v, want %v", message, entry.Level, zap.WarnLevel)
		}
		failure, _ := entry.ContextMap()["error"].(string)
		if failure == "" {
			t.Errorf("%s: got %v, want the error", message, entry.ContextMap())
		}
	}
}

// An ordinary run says nothing.
func TestLoggerOfOrdinaryRun(t *testing.T) {
	log, logs, _ := observed(t)
	cfg := sqlite(t)
	cfg.Logger = log
	_, stop, err := bootstrap.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
	if got := logs.All(); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// What Open returns it does not also log.
func TestLoggerIsNotToldWhatOpenReturns(t *testing.T) {
	log, logs, _ := observed(t)
	cfg := bootstrap.DefaultConfig()
	cfg.Logger, cfg.Database.URL = log, "postgres://gluepot:hunter2@127.0.0.1:1/gluepot"
	if _, _, err := bootstrap.Open(context.Background(), cfg); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("got %v, want %v", err, fault.Unavailable)
	}
	if got := logs.All(); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// A statement that takes long is a warning with its text, how long it took and, where that is known, how many rows it
// had.
func TestLoggerTakesSlowStatements(t *testing.T) {
	log, logs, waitFor := observed(t)
	cfg := sqlite(t)
	cfg.Logger, cfg.Database.SlowStatement = log, time.Nanosecond
	gluepot, stop, err := bootstrap.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t.Context()) //nolint:errcheck // nothing is pending
	if _, err := gluepot.Stats.Sum.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	const message = "a statement was slow"
	waitFor(message)
	for _, entry := range logs.FilterMessage(message).All() {
		fields := entry.ContextMap()
		if text, _ := fields["statement"].(string); entry.Level != zap.WarnLevel || text == "" || fields["duration"] == nil {
			t.Errorf("got %v at level %v, want a warning with statement and duration", fields, entry.Level)
		}
	}
	if !slices.ContainsFunc(logs.FilterMessage(message).All(), func(entry observer.LoggedEntry) bool {
		text, _ := entry.ContextMap()["statement"].(string)
		return strings.Contains(text, "count(*) FROM users")
	}) {
		t.Errorf("got %v, want the statement that counts everything", logs.All())
	}
}

// An embedder that asks for it has what has expired removed in the background, as the server has.
func TestSweepInterval(t *testing.T) {
	log, _, waitFor := observed(t)
	cfg := sqlite(t)
	cfg.Logger, cfg.SweepInterval, cfg.Pastes.SweepGrace = log, 10*time.Millisecond, 0
	store, err := gormstore.New(cfg.Database)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	expired := paste.Document{Paste: paste.Paste{ID: "expired", CreatedAt: now.Add(-time.Hour),
		ExpiresAt: now.Add(-time.Minute)}}
	err = errors.Join(store.Connect(t.Context()), gormstore.NewPastes(store).CreateDocument(t.Context(), expired),
		store.Close())
	if err != nil {
		t.Fatal(err)
	}
	leavesNothing(t, func() {
		_, stop, err := bootstrap.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		entry := waitFor("sweep")
		if got := entry.ContextMap()["removed"]; entry.Level != zap.InfoLevel || got != int64(1) {
			t.Errorf("got %v %v, want one paste removed", entry.Level, entry.ContextMap())
		}
		if err := stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
