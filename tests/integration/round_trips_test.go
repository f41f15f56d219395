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

// trips counts how often a store waits for PostgreSQL: once for a statement, and once for a batch of them.
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

// TestRoundTrips bounds how often the hottest requests wait for PostgreSQL.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	cfg, made := database.Postgres(t), new(trips)
	cfg.Tracer = made
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
		// What begins; the row; its pasties; its history; what is written and ends.
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
			made.count.Store(0)
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if got := made.count.Load(); got != c.want {
			t.Errorf("%s: got %d round trips, want %d", c.name, got, c.want)
		}
	}
}

// TestSearchReadsResultsTogether checks that a search waits for PostgreSQL as often for several results as for one.
func TestSearchReadsResultsTogether(t *testing.T) {
	t.Parallel()
	cfg, made := database.Postgres(t), new(trips)
	cfg.Tracer = made
	s := openService(t, cfg)
	exec(t, s.db, "UPDATE users SET public_profile = true")
	for i, code := range []string{"alone", "together", "together", "together"} {
		created := newDocument(fmt.Sprint("paste", i), "epoxy", code)
		created.Visibility, created.Tags = paste.Public, []string{"tag"}
		createDocument(t, s.pastes, created)
	}
	find := func(word string, want int) (waits int64) {
		t.Helper()
		for range 2 { // the first time prepares the statements
			made.count.Store(0)
			results, _, err := gormstore.NewSearch(s.store).Find(t.Context(), search.Query{Words: []string{word}}, "",
				search.Cursor{}, 20)
			if err != nil || len(results) != want {
				t.Fatalf("%s: got %d results, %v, want %d", word, len(results), err, want)
			}
		}
		return made.count.Load()
	}
	if one, several := find("alone", 1), find("together", 3); several != one {
		t.Errorf("got %d round trips for several results, want %d, as for one", several, one)
	}
}

// TestEditWaitsUntilThePasteExpires has an edit wait for the lock of a paste that expires meanwhile.
func TestEditWaitsUntilThePasteExpires(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	db := database.SQL(t, cfg)
	stopped, set := stopClock(t, cfg, db)
	s := openService(t, stopped)
	expiring := newDocument("expiring", "epoxy", "code")
	expiring.ExpiresAt = time.Now().Add(time.Hour)
	set(expiring.ExpiresAt.Add(-time.Minute))
	createDocument(t, s.pastes, expiring)
	holder := begin(t, db, "1min")
	exec(t, holder, `SELECT 1 FROM pastes WHERE id = 'expiring' FOR UPDATE`)
	failed := make(chan error)
	go func() {
		_, err := s.pastes.Update(t.Context(), auditlog.Entry{}, "expiring", retitle("another title", "title"))
		failed <- err
	}()
	waitForWaiters(t, db, 1)
	set(expiring.ExpiresAt.Add(time.Minute))
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want that there is no such paste", err)
	}
}
