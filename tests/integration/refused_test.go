package integration

import (
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/tests/database"
)

// TestGuardThatCannotBePrepared checks that nothing is stored if the statement that refuses blocked clients cannot be
// prepared.
func TestGuardThatCannotBePrepared(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	s := openService(t, cfg)
	address := netip.MustParseAddr("192.0.2.7")
	block := moderation.Block{Network: netip.MustParsePrefix("192.0.2.0/24"), Reason: "spam", CreatedAt: time.Now()}
	if err := gormstore.NewModeration(database.Open(t, cfg)).Block(t.Context(), auditlog.Entry{}, block); err != nil {
		t.Fatal(err)
	}
	impatient := database.WithParameter(t, cfg, "lock_timeout", "200ms") // or statement_timeout, which managed servers set
	node := gormstore.NewPastes(database.Open(t, impatient))
	tx, err := s.db.BeginTx(t.Context(), nil) // VACUUM FULL, or an ALTER TABLE of a migration
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after the rollback below
	exec(t, tx, "LOCK TABLE blocks IN ACCESS EXCLUSIVE MODE")
	created := newDocument("paste001", "", "code")
	allowance := paste.Allowance{Rate: paste.Quota{Pastes: 5, Window: time.Hour}}
	_, err = node.CreateAllowed(t.Context(), address, allowance, "192.0.2.7", created)
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want fault.Unavailable", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := node.DocumentByID(t.Context(), created.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v for the refused paste, want fault.NotFound", err)
	}
}

// TestReadOnly checks that a read-only store refuses writes, and that the methods without writes work.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		cfg.RefuseWrites = true
		store := database.Open(t, cfg)
		if err := gormstore.NewPastes(store).CreateDocument(t.Context(), newDocument("paste001", "", "code")); !fault.Is(err,
			fault.Unavailable) {
			t.Errorf("got %v, want fault.Unavailable", err)
		}
		store.Analyze(t.Context())
		if _, _, err := gormstore.NewSearch(store).Find(t.Context(), search.Query{Words: []string{"code"}}, "",
			search.Cursor{}, 10); err != nil {
			t.Errorf("got %v, want no error", err)
		}
	})
}
