package integration

import (
	"context"
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/dataloader"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
)

// TestNewColumnsUnderARunningNode adds a column to each table, as the migration of a newer version may while nodes of
// this one run. PostgreSQL refuses a prepared statement once the columns of its result have changed.
func TestNewColumnsUnderARunningNode(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		cfg.MaxConnections = 1
		s := openService(t, cfg)
		ctx := t.Context()
		createDocument(t, s.pastes, newDocument("p", "epoxy", "code"))
		operations := map[string]func(context.Context) error{
			"an update": func(ctx context.Context) error {
				_, _, err := s.users.Update(ctx, netip.Addr{}, auditlog.Entry{}, "epoxy",
					func(*user.User, map[string]string) error {
						return nil
					})
				return err
			},
			"an import of users": func(ctx context.Context) error {
				results, err := s.users.Import(ctx, newAccounts(t, "owner=owner"))
				outcomes(t, results, err)
				return err
			},
			"an import of tokens": func(ctx context.Context) error {
				results, err := s.tokens.Import(ctx, newTokens("k=k"))
				outcomes(t, results, err)
				return err
			},
			"an import of pastes": func(ctx context.Context) error {
				document := newDocument("p", "epoxy", "code")
				document.Edits = []paste.Edit{{ID: "e", At: time.Unix(1, 0)}}
				document.Tags = []string{"tag"}
				results, err := s.pastes.Import(ctx, contract.Whole(document), paste.RefuseOrphans)
				outcomes(t, results, err)
				return err
			},
			"the users":  func(ctx context.Context) error { _, err := s.users.Users(ctx, user.Name{}, 10); return err },
			"the tokens": func(ctx context.Context) error { _, err := s.tokens.ByOwner(ctx, "epoxy"); return err },
			"an account": func(ctx context.Context) error { _, err := s.users.AccountByID(ctx, "epoxy"); return err },
			"a list": func(ctx context.Context) error {
				_, _, err := s.pastes.ActiveIDs(ctx, "epoxy", paste.Cursor{}, 10)
				return err
			},
			"the titles": func(ctx context.Context) error {
				_, err := s.pastes.Select(ctx, "epoxy", paste.Selection{}, 10)
				return err
			},
			"a paste": func(ctx context.Context) error { _, err := s.pastes.ReadDocument(ctx, "p", "epoxy"); return err },
			"a count": func(ctx context.Context) error { _, err := s.pastes.ActiveCount(ctx); return err },
			"a use": func(ctx context.Context) error {
				return s.tokens.SetLastUsed(ctx, map[token.ID]time.Time{"t": time.Now()})
			},
			"a star": func(ctx context.Context) error { return s.pastes.Star(ctx, netip.Addr{}, "epoxy", "p") },
		}
		maps.Copy(operations, s.lookups())
		if isPostgres(cfg) {
			loader := dataloader.New(s.store)
			users, tokens, pastes := loader.Users(s.users), loader.Tokens(s.tokens), loader.Pastes(s.pastes)
			maps.Copy(operations, map[string]func(context.Context) error{
				"a merged user":  func(ctx context.Context) error { _, err := users.StaleByName(ctx, s.name); return err },
				"a merged token": func(ctx context.Context) error { _, _, err := tokens.ByHash(ctx, s.hash); return err },
				"a merged paste": func(ctx context.Context) error { _, err := pastes.ReadDocument(ctx, "p", "epoxy"); return err },
			})
		}
		for what, do := range operations {
			for range 3 {
				if err := do(ctx); err != nil {
					t.Fatalf("%s before: got %v, want no error", what, err)
				}
			}
		}
		for _, table := range []string{
			"users", "identities", "passwords", "one_time_links", "sign_in_attempts", "invitations", "access_tokens",
			"pastes", "pasties", "paste_tags", "paste_edits",
			"stars", "tombstones", "former_names", "audit_log", "blocks", "reports", "installation",
		} {
			exec(t, s.db, "ALTER TABLE "+table+" ADD COLUMN added_later integer")
		}
		for what, do := range operations {
			if err := do(ctx); err != nil {
				t.Errorf("%s: got %v, want no error", what, err)
			}
		}
	})
}
