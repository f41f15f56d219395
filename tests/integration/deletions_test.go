package integration

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// TestInterruptedDeletion interrupts the deletion of a user after its first batch, as a kill does. The sweep must
// finish it as requested.
func TestInterruptedDeletion(t *testing.T) {
	t.Parallel()
	const pasteCount = 250
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for what, c := range map[string]struct {
		retention *user.PasteRetention
		remaining int64
	}{
		"with its pastes":    {nil, 0},
		"without its pastes": {&user.PasteRetention{Until: until, Lifetime: "1h"}, pasteCount},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				cfg.SlowStatement = time.Nanosecond
				batches := 0
				cfg.OnSlowStatement = func(s gormstore.Statement) {
					if strings.HasPrefix(s.SQL, `DELETE FROM "pastes"`) {
						if batches++; batches == 2 {
							kill() // in a transaction, which is rolled back
						}
					}
				}
				s := openService(t, cfg)
				for i := range pasteCount {
					createDocument(t, s.pastes, newDocument(fmt.Sprintf("p%06d", i), "epoxy", "code"))
				}
				if err := s.users.Delete(ctx, netip.Addr{}, auditlog.Entry{}, "epoxy", s.name, c.retention); !fault.Is(err,
					fault.Unavailable) {
					t.Fatalf("got %v, want fault.Unavailable", err)
				}
				half := len(column(t, s.db, "SELECT id FROM pastes WHERE owner_id = 'epoxy'"))
				if _, err := s.users.ByID(t.Context(), "epoxy"); err != nil || half == 0 || half == pasteCount {
					t.Fatalf("got %v and %d pastes of the user, want some of %d", err, half, pasteCount)
				}
				sweep := pastes.New(s.pastes, s.users, pastes.Options{}, time.Now).Sweep
				if _, err := sweep.Do(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := s.users.ByID(t.Context(), "epoxy"); !fault.Is(err, fault.NotFound) {
					t.Errorf("got %v, want fault.NotFound", err)
				}
				count, err := s.pastes.ActiveCount(t.Context())
				if err != nil || count != c.remaining {
					t.Errorf("got %d pastes, error %v, want %d", count, err, c.remaining)
				}
				if c.remaining > 0 {
					document, err := s.pastes.DocumentByID(t.Context(), "p000007")
					if err != nil || document.Owner != "" || document.ExpiresAt != until || document.Lifetime != "1h" {
						t.Errorf("got %+v, error %v, want it anonymous until %v", document.Paste, err, until)
					}
				}
				unfinished := column(t, s.db, "SELECT user_id FROM user_deletions")
				tombstones := column(t, s.db, "SELECT id FROM tombstones WHERE kind = 'user'")
				if len(unfinished) != 0 || len(tombstones) != 1 {
					t.Errorf("got the deletions %v and the tombstones %v, want none and one", unfinished, tombstones)
				}
				other := user.User{ID: "other", Name: parseName(t, "other"), CreatedAt: time.Now()}
				database.CreateUser(t, s.store, other)
				_, _, err = s.users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, "other",
					func(u *user.User, _ map[string]string) error {
						u.Name = s.name
						return nil
					})
				if !fault.Is(err, fault.Conflict) {
					t.Errorf("got %v, want fault.Conflict for the reserved name", err)
				}
			})
		})
	}
}
