package integration

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/dataloader"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/database"
)

// statementCount is a tracer that counts statements.
type statementCount struct{ atomic.Int64 }

// TraceQueryStart implements pgx.QueryTracer.
func (c *statementCount) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.Add(1)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (c *statementCount) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestSessionIsOneRead checks that resuming a session, which every request of a signed-in browser does, takes one
// statement that uses indexes.
func TestSessionIsOneRead(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		counter := new(statementCount)
		cfg.Tracer = counter
		s, recorder := openRecorded(t, cfg, time.Nanosecond)
		sessions, visitor := tokens.New(s.tokens, s.users, time.Now).Sessions, audit.By(token.Viewer{}, netip.Addr{})
		secret, err := sessions.Start(t.Context(), visitor, "epoxy", token.Token{}, "a browser", "")
		if err != nil {
			t.Fatal(err)
		}
		resume := func(store token.Store) {
			t.Helper()
			viewer, err := tokens.New(store, s.users, time.Now).SignIn.Resume(t.Context(), secret.Reveal())
			if err != nil || viewer.User.Name != s.name {
				t.Errorf("got %+v, error %v, want the user", viewer, err)
			}
		}
		before := len(recorder.with())
		resume(s.tokens)
		read := recorder.with()[before:]
		if len(read) != 1 {
			t.Fatalf("got %+v, want one statement", read)
		}
		tx, err := s.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback() //nolint:errcheck // it only reads
		explain, scan := "EXPLAIN QUERY PLAN ", "SCAN"
		if strings.HasPrefix(cfg.URL, "postgres") {
			exec(t, tx, "SET LOCAL enable_seqscan = off") // which the planner would prefer for so few rows
			explain, scan = "EXPLAIN (FORMAT JSON) ", "Seq Scan"
			loader := dataloader.New(s.store)
			before := counter.Load()
			resume(loader.Tokens(s.tokens))
			if got := counter.Load() - before; got != 1 {
				t.Errorf("with merged reads: got %d statements, want one", got)
			}
		}
		sql := strings.NewReplacer("$1$", "$1", "$2$", "$2").Replace(read[0].SQL) // GORM writes arguments so
		rows, err := tx.QueryContext(t.Context(), explain+sql, hashOf(t, secret.Reveal()), 1)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() //nolint:errcheck // they were read
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		plan := ""
		for rows.Next() {
			fields := make([]any, len(columns))
			for i := range fields {
				fields[i] = new(any)
			}
			if err := rows.Scan(fields...); err != nil {
				t.Fatal(err)
			}
			plan += fmt.Sprintf("%s\n", *fields[len(fields)-1].(*any)) //nolint:forcetypeassert // a pointer to any
		}
		if plan == "" || strings.Contains(plan, scan) {
			t.Errorf("got the plan %s, want only indexes", plan)
		}
	})
}

func hashOf(t *testing.T, text string) []byte {
	t.Helper()
	secret, err := token.ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	hash := secret.Hash()
	return hash[:]
}
