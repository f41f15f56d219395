package gormstore

import (
	"strings"
	"testing"
	"time"
)

// TestNobodyTraces wants no tracer to be installed in either driver unless somebody wants to know.
func TestNobodyTraces(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.URL, cfg.SlowStatement = "postgres://localhost/gluepot", time.Second
	parsed, err := postgresConfig(cfg)
	if err != nil || parsed.Tracer != nil {
		t.Errorf("got the tracer %v and error %v, want none", parsed.Tracer, err)
	}
	connector, err := newSQLiteConnector("some.db", "file:some.db", cfg)
	if err != nil || connector.traced != nil || connector.slow != nil {
		t.Errorf("got %v, %v and error %v, want nobody who is told", connector.traced, connector.slow, err)
	}
	cfg.OnSlowStatement = func(Statement) {}
	if parsed, err = postgresConfig(cfg); err != nil {
		t.Fatal(err)
	}
	if _, alone := parsed.Tracer.(*slowStatements); !alone {
		t.Errorf("got %T, want only who waits for slow statements", parsed.Tracer)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, want string }{
		{postgresQueries.userByName, "SELECT users"},
		{postgresQueries.usersByNames, "SELECT users"},
		{postgresQueries.accountByHash, "SELECT stars pastes user_services access_tokens users"},
		{sqliteQueries.accountByHash, "SELECT stars pastes user_services access_tokens users"},
		{postgresQueries.createDocument, "INSERT pastes paste_contents"},
		{postgresQueries.createOwns, "SELECT access_tokens INSERT pastes paste_contents"},
		{postgresQueries.lockPaste, "SELECT pastes"},
		{postgresQueries.setVisibility, "UPDATE pastes"},
		{postgresQueries.storeContent, "INSERT paste_contents"},
		{postgresQueries.dropEdits, "DELETE paste_edits"},
		{postgresQueries.activeCount, "SELECT paste_counts pastes"},
		{postgresQueries.removeExpired, "DELETE pastes SELECT pastes"},
		{postgresQueries.setLastUsed, "SELECT access_tokens UPDATE access_tokens"},
		{sqliteQueries.setLastUsed, "UPDATE access_tokens"},
		{postgresQueries.star, "INSERT stars SELECT stars"},
		{postgresQueries.sweepTryLock, "SELECT"},
		{postgresQueries.replacePastes.pastes, "INSERT pastes"},
		{`INSERT INTO "users" ("id","username") VALUES ($1,$2)`, "INSERT users"},
		{`begin isolation level read committed`, "BEGIN"},
		{` COMMIT`, "COMMIT"},
		{`-- 'a secret'`, "other"},
		{"", "other"},
	} {
		if got := summarize(test.query); got != test.want {
			t.Errorf("%.60s: got %q, want %q", test.query, got, test.want)
		}
	}
}

// TestSummariesAreBounded wants no more texts to be kept than there are fixed ones and a few of GORM's.
func TestSummariesAreBounded(t *testing.T) {
	t.Parallel()
	var all summaries
	text := "SELECT 1 FROM users WHERE id IN ($1"
	for range 10 { // one has no length
		all.of(text + strings.Repeat(",$1", 100_000))
	}
	all.kept.Range(func(long, _ any) bool {
		t.Errorf("got %.40s and so on kept, want no such text", long)
		return false
	})
	for range 2 * maxSummaries {
		text += ",$1"
		if got := all.of(text); got != "SELECT users" {
			t.Fatalf("got %q, want SELECT users", got)
		}
	}
	kept := 0
	all.kept.Range(func(any, any) bool {
		kept++
		return true
	})
	if kept != maxSummaries {
		t.Errorf("got %d texts kept, want %d", kept, maxSummaries)
	}
}
