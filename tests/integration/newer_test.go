package integration

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// TestNewColumnsUnderARunningNode adds a column to each table, as the migration of a newer version may while nodes of this one go
// on. What they do over and over is prepared on their connections; PostgreSQL refuses to go on with that when its columns change.
func TestNewColumnsUnderARunningNode(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		cfg.MaxConnections = 1
		s := openService(t, cfg)
		ctx := t.Context()
		everything := map[string]func(context.Context) error{
			"an update": func(ctx context.Context) error {
				_, _, err := s.users.Update(ctx, s.name, func(*user.User, map[string]string) error { return nil })
				return err
			},
			"an import of users": func(ctx context.Context) error {
				results, err := s.users.Import(ctx, accounts(t, "owner=owner"))
				outcomes(t, results, err)
				return err
			},
			"an import of tokens": func(ctx context.Context) error {
				results, err := s.tokens.Import(ctx, keys("k=k"))
				outcomes(t, results, err)
				return err
			},
			"an import of pastes": func(ctx context.Context) error {
				imported := paste.Document{Paste: paste.Paste{ID: "p", Owner: "epoxy", CreatedAt: time.Now()}}
				results, err := s.pastes.Import(ctx, []paste.Document{imported}, paste.RefuseOrphans)
				outcomes(t, results, err)
				return err
			},
			"the users":  func(ctx context.Context) error { return s.users.Each(ctx, func(user.User) error { return nil }) },
			"the tokens": func(ctx context.Context) error { _, err := s.tokens.ByOwner(ctx, "epoxy"); return err },
			"the pastes": func(ctx context.Context) error {
				return s.pastes.EachByOwner(ctx, "epoxy", func(paste.Paste) error { return nil })
			},
			"an account": func(ctx context.Context) error { _, _, err := s.tokens.AccountByHash(ctx, s.hash); return err },
			"a list": func(ctx context.Context) error {
				return s.pastes.EachActiveID(ctx, "epoxy", func(paste.ID) error { return nil })
			},
			"a count": func(ctx context.Context) error { _, err := s.pastes.ActiveCount(ctx); return err },
			"a use": func(ctx context.Context) error {
				return s.tokens.SetLastUsed(ctx, map[token.ID]time.Time{"t": time.Now()})
			},
			"a star": func(ctx context.Context) error { return s.pastes.Star(ctx, "epoxy", "p") },
		}
		maps.Copy(everything, s.lookups())
		for what, do := range everything {
			for range 3 {
				if err := do(ctx); err != nil {
					t.Fatalf("%s before: got %v, want no error", what, err)
				}
			}
		}
		for _, table := range []string{"users", "user_services", "access_tokens", "pastes", "stars"} {
			exec(t, s.db, "ALTER TABLE "+table+" ADD COLUMN added_later integer")
		}
		for what, do := range everything {
			if err := do(ctx); err != nil {
				t.Errorf("%s: got %v, want no error", what, err)
			}
		}
	})
}
