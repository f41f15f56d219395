package integration

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// setIsolation changes the default of all sessions of a store, as a proxy does that hands over used sessions.
func setIsolation(t *testing.T, store *gormstore.Store, level string) {
	t.Helper()
	pool := store.Pool()
	for range pool.Config().MaxConns {
		conn, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release() // only after all of them are set
		if _, err := conn.Exec(t.Context(), "SET default_transaction_isolation = '"+level+"'"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIsolation checks that the store chooses the isolation level, on a server with another default.
func TestIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			cfg := database.Postgres(t)
			exec(t, database.SQL(t, cfg), `DO $$ BEGIN EXECUTE format(
				'ALTER DATABASE %I SET default_transaction_isolation = ''`+level+`''', current_database()); END $$`)
			s, other := openService(t, cfg), database.Open(t, cfg)
			store, ctx := s.store, t.Context()
			want := func(what, level string, db *gorm.DB) error {
				t.Helper()
				var got string
				if err := db.Raw("SHOW transaction_isolation").Row().Scan(&got); err != nil || got != level {
					t.Errorf("%s: got %q, error %v, want %s", what, got, err, level)
				}
				return nil
			}
			_ = want("a statement", "read committed", store.Read(ctx))
			setIsolation(t, store, level)
			setIsolation(t, other, level)
			if err := store.Snapshot(ctx, func(tx *gorm.DB) error {
				return want("a snapshot", "repeatable read", tx)
			}); err != nil {
				t.Error(err)
			}
			inTransaction := func(tx *gorm.DB) error { return want("a transaction", "read committed", tx) }
			for _, err := range []error{
				store.Transaction(ctx, inTransaction), store.WritePaste(ctx, inTransaction),
				store.WriteTogether(ctx, inTransaction),
				store.WriteImport(ctx, "kind", inTransaction),
			} {
				if err != nil {
					t.Error(err)
				}
			}
			wantWithinAllowance(t, s, gormstore.NewPastes(other))
		})
	}
}

// wantWithinAllowance creates more pastes at once, on two nodes, than their owner may have, and checks how many
// succeed.
func wantWithinAllowance(t *testing.T, s *service, other *gormstore.Pastes) {
	t.Helper()
	var callers sync.WaitGroup
	nodes := []*gormstore.Pastes{s.pastes, other}
	allowance := paste.Allowance{Pastes: 5, Bytes: 1 << 20}
	for i := range 40 {
		callers.Go(func() {
			created := newDocument(fmt.Sprint("paste", i), "epoxy", "code")
			_, err := nodes[i%len(nodes)].CreateAllowed(t.Context(), netip.Addr{}, allowance, "", created)
			if err != nil && !fault.Is(err, fault.Forbidden) {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if count := len(column(t, s.db, "SELECT id FROM pastes")); count != allowance.Pastes {
		t.Errorf("got %d pastes, want %d", count, allowance.Pastes)
	}
}
