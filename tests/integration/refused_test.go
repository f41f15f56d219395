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

// TestGuardThatCannotBePrepared wants nothing to be stored of a creation that failed, least of all of a blocked client.
func TestGuardThatCannotBePrepared(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	s := openService(t, cfg)
	address := netip.MustParseAddr("192.0.2.7")
	block := moderation.Block{Network: netip.MustParsePrefix("192.0.2.0/24"), Reason: "spam", CreatedAt: time.Now()}
	if err := gormstore.NewModeration(database.Open(t, cfg)).Block(t.Context(), auditlog.Entry{}, block); err != nil {
		t.Fatal(err)
	}
	hasty := database.WithParameter(t, cfg, "lock_timeout", "200ms") // or statement_timeout, which managed servers set
	node := gormstore.NewPastes(database.Open(t, hasty))
	tx, err := s.db.BeginTx(t.Context(), nil) // VACUUM FULL, or an ALTER TABLE of a migration
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after the one below
	exec(t, tx, "LOCK TABLE blocks IN ACCESS EXCLUSIVE MODE")
	created := newDocument("paste001", "", "code")
	five := paste.Allowance{Rate: paste.Quota{Pastes: 5, Window: time.Hour}}
	_, err = node.CreateAllowed(t.Context(), address, five, "192.0.2.7", created)
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want fault.Unavailable", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := node.DocumentByID(t.Context(), created.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v when reading what was refused, want fault.NotFound", err)
	}
}

// TestReadOnly has a store refuse writes, and whatever needs none work: embedders may call it.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		cfg.RefuseWrites = true
		store := database.Open(t, cfg)
		if err := gormstore.NewPastes(store).CreateDocument(t.Context(), newDocument("paste001", "", "code")); !fault.Is(err,
			fault.Unavailable) {
			t.Errorf("got %v, want it refused", err)
		}
		store.Analyze(t.Context())
		if _, _, err := gormstore.NewSearch(store).Find(t.Context(), search.Query{Words: []string{"code"}}, "",
			search.Cursor{}, 10); err != nil {
			t.Errorf("got %v, want nothing found", err)
		}
	})
}
