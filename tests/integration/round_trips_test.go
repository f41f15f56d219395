package integration

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/tests/database"
)

// trips counts how often a store waits for PostgreSQL: once for a statement, and once for a batch.
type trips struct{ count atomic.Int64 }

var _ pgx.BatchTracer = (*trips)(nil)

func (r *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.count.Add(1)
	return ctx
}

func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.count.Add(1)
	return ctx
}

func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TestRoundTrips checks how often the most frequent requests wait for PostgreSQL.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	cfg, tracer := database.Postgres(t), new(trips)
	cfg.Tracer = tracer
	s, ctx, number := openService(t, cfg), t.Context(), 0
	for _, c := range []struct {
		name string
		want int64
		do   func() error
	}{
		{"create", 1, func() error {
			number++
			return s.pastes.CreateDocument(ctx, newDocument(fmt.Sprint("paste", number), "epoxy", "code"))
		}},
		// BEGIN; the row; its pasties; its history; the writes with COMMIT.
		{"edit", 5, func() error {
			_, err := s.pastes.Update(ctx, auditlog.Entry{}, "paste1", retitle("another title", "title"))
			return err
		}},
		{"list", 1, func() error {
			_, _, err := s.pastes.ActiveIDs(ctx, "epoxy", paste.Cursor{}, 10)
			return err
		}},
	} {
		for range 2 { // the first time prepares the statements
			tracer.count.Store(0)
			if err := c.do(); err != nil {
				t.Fatalf("%s: got %v, want no error", c.name, err)
			}
		}
		if got := tracer.count.Load(); got != c.want {
			t.Errorf("%s: got %d round trips, want %d", c.name, got, c.want)
		}
	}
}

// TestSearchReadsResultsTogether checks that a search waits for PostgreSQL as often for several results as for one.
func TestSearchReadsResultsTogether(t *testing.T) {
	t.Parallel()
	cfg, tracer := database.Postgres(t), new(trips)
	cfg.Tracer = tracer
	s := openService(t, cfg)
	exec(t, s.db, "UPDATE users SET public_profile = true")
	for i, code := range []string{"alone", "together", "together", "together"} {
		document := newDocument(fmt.Sprint("paste", i), "epoxy", code)
		document.Visibility, document.Tags = paste.Public, []string{"tag"}
		createDocument(t, s.pastes, document)
	}
	find := func(word string, want int) (roundTrips int64) {
		t.Helper()
		for range 2 { // the first time prepares the statements
			tracer.count.Store(0)
			results, _, err := gormstore.NewSearch(s.store).Find(t.Context(), search.Query{Words: []string{word}}, "",
				search.Cursor{}, 20)
			if err != nil || len(results) != want {
				t.Fatalf("%s: got %d results, error %v, want %d", word, len(results), err, want)
			}
		}
		return tracer.count.Load()
	}
	if one, several := find("alone", 1), find("together", 3); several != one {
		t.Errorf("got %d round trips for several results, want %d, as for one", several, one)
	}
}

// TestEditWaitsUntilThePasteExpires lets a paste expire while an edit waits for its lock.
func TestEditWaitsUntilThePasteExpires(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	db := database.SQL(t, cfg)
	stoppedCfg, set := stopClock(t, cfg, db)
	s := openService(t, stoppedCfg)
	document := newDocument("expiring", "epoxy", "code")
	document.ExpiresAt = time.Now().Add(time.Hour)
	set(document.ExpiresAt.Add(-time.Minute))
	createDocument(t, s.pastes, document)
	holder := begin(t, db, "1min")
	exec(t, holder, `SELECT 1 FROM pastes WHERE id = 'expiring' FOR UPDATE`)
	result := make(chan error)
	go func() {
		_, err := s.pastes.Update(t.Context(), auditlog.Entry{}, "expiring", retitle("another title", "title"))
		result <- err
	}()
	waitForWaiters(t, db, 1)
	set(document.ExpiresAt.Add(time.Minute))
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound", err)
	}
}
