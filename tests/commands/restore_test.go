package commands

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	domain "github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// service is the ports of an installation's store.
type service struct {
	users      *gormstore.Users
	tokens     *gormstore.Tokens
	pastes     *gormstore.Pastes
	identities *gormstore.Identities
	moderation *gormstore.Moderation
}

func ports(store *gormstore.Store) service {
	return service{
		gormstore.NewUsers(store), gormstore.NewTokens(store), gormstore.NewPastes(store), gormstore.NewIdentities(store),
		gormstore.NewModeration(store),
	}
}

// all fails the test unless every call succeeds.
func all(t *testing.T, calls ...func(ctx context.Context) error) {
	t.Helper()
	for i, call := range calls {
		if err := call(t.Context()); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
}

func named(t *testing.T, name string) user.Name {
	t.Helper()
	parsed, err := user.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// manifold stores what can be undone: users ann to eve, each with pastes, and more of ann's.
func (s service) manifold(t *testing.T) {
	t.Helper()
	created := time.Now().Truncate(time.Second)
	for i, name := range []string{"ann", "bob", "cid", "dan", "eve"} {
		account := user.User{
			ID: user.ID(name), Name: named(t, name), DefaultLanguage: "Go", PublicProfile: true, ShowTags: true, Admin: true,
			CreatedAt: created,
		}
		all(t, func(ctx context.Context) error {
			credentials := identity.Credentials{
				Password: identity.PasswordHash("old " + name), Identities: map[string]string{"github": name, "gitlab": name},
				Passkeys: []identity.Passkey{
					{ID: identity.PasskeyID(name + "-stays"), Name: "phone", PublicKey: []byte{1}, Counter: 7,
						CreatedAt: created},
					{ID: identity.PasskeyID(name + "-lost"), Name: "key ring", PublicKey: []byte{1}, Counter: 7,
						CreatedAt: created},
				},
			}
			return s.identities.Enroll(ctx, netip.Addr{}, auditlog.Entry{}, account, credentials, identity.Admission{})
		})
		for _, kind := range []string{"stays", "deleted", "removed", "given-up", "unshared"} {
			account := paste.Document{
				Paste: paste.Paste{ID: paste.ID(name + "-" + kind), Owner: user.ID(name), CreatedAt: created},
				Content: paste.Content{
					Title: kind, Visibility: paste.Public, Lifetime: paste.Never, Tags: []string{"tag"},
					Pasties: []paste.Pasty{{ID: "pasty001", Title: "main.go", Language: "Go", Code: "secret of " + name + " " + kind}},
				},
			}
			all(t, func(ctx context.Context) error { return s.pastes.CreateDocument(ctx, account) })
		}
		for j, id := range []token.ID{"stays", "ends"} {
			key := token.Token{ID: token.ID(name) + "-" + id, Owner: account.ID, Hash: token.Hash{byte(i), byte(j)}, Name: "t",
				CreatedAt: created}
			session := key
			session.ID, session.Hash[2], session.Kind = "s-"+key.ID, 1, token.Session
			all(t, func(ctx context.Context) error { return s.tokens.Create(ctx, netip.Addr{}, auditlog.Entry{}, key) },
				func(ctx context.Context) error { return s.tokens.Create(ctx, netip.Addr{}, auditlog.Entry{}, session) })
		}
	}
	all(t, func(ctx context.Context) error {
		return s.identities.StoreLink(ctx, auditlog.Entry{},
			identity.OneTimeLink{Owner: "ann", ExpiresAt: created.Add(time.Hour)})
	})
	for i, id := range []identity.InvitationID{"stays", "revoked", "used"} {
		all(t, func(ctx context.Context) error {
			return s.identities.StoreInvitation(ctx, auditlog.Entry{}, identity.Invitation{
				ID: id, Hash: identity.Hash{byte(i)}, Uses: 2, CreatedAt: created, ExpiresAt: created.Add(time.Hour),
			})
		})
	}
	for _, id := range []string{"ann-stays-r1", "ann-stays-r2"} {
		all(t, func(ctx context.Context) error {
			report := domain.Report{ID: id, Paste: "ann-stays", Reason: "spam", At: created}
			return s.moderation.Report(ctx, netip.Addr{}, report, "", "client", paste.Quota{Pastes: 9, Window: time.Hour})
		})
	}
}

// undo takes some of it back, in every way.
func (s service) undo(t *testing.T) {
	t.Helper()
	password := func(of user.ID, to identity.PasswordHash) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			but := "s-" + token.ID(of) + "-stays"
			return s.identities.ChangeCredentials(ctx, netip.Addr{}, of, but,
				func(_ user.User, credentials *identity.Credentials) error {
					credentials.Password = to
					return nil
				})
		}
	}
	edit := func(id paste.ID, change func(d *paste.Document) error) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := s.pastes.Update(ctx, auditlog.Entry{}, id, func(stored paste.Document) (paste.Change, error) {
				err := change(&stored)
				return paste.Change{Document: stored, Changed: true}, err
			})
			return err
		}
	}
	all(t,
		func(ctx context.Context) error {
			return s.pastes.DeleteIf(ctx, auditlog.Entry{}, "ann-deleted", func(paste.Paste) error { return nil })
		},
		func(ctx context.Context) error {
			return s.moderation.Remove(ctx, audit.Operator().Entry("paste.remove", "ann-removed", "spam"), "ann-removed", "spam")
		},
		edit("ann-given-up", func(d *paste.Document) (err error) {
			*d, err = d.Anonymous("ann", paste.KeyHash{1}, "1d", time.Now())
			return err
		}),
		edit("ann-unshared", func(d *paste.Document) error { d.Visibility = paste.Private; return nil }),
		func(ctx context.Context) error {
			return s.tokens.Revoke(ctx, netip.Addr{}, auditlog.Entry{}, "ann-ends", time.Now())
		},
		func(ctx context.Context) error { return s.tokens.EndSession(ctx, netip.Addr{}, "ann", "s-ann-ends") },
		password("ann", "new ann"),
		password("eve", ""),
		func(ctx context.Context) error {
			return s.identities.UsePasskey(ctx, netip.Addr{}, "ann-stays", 9, time.Now())
		},
		func(ctx context.Context) error {
			lose := func(_ user.User, credentials *identity.Credentials) error {
				credentials.Passkeys = slices.DeleteFunc(credentials.Passkeys,
					func(p identity.Passkey) bool { return p.ID == "ann-lost" })
				return nil
			}
			return s.identities.ChangeCredentials(ctx, netip.Addr{}, "ann", "s-ann-stays", lose)
		},
		func(ctx context.Context) error {
			return s.identities.RemoveInvitation(ctx, auditlog.Entry{}, "revoked")
		},
		func(ctx context.Context) error {
			return s.moderation.CloseReport(ctx, auditlog.Entry{}, "ann-stays-r2")
		},
		func(ctx context.Context) error {
			_, _, err := s.users.Update(ctx, netip.Addr{}, auditlog.Entry{}, "ann",
				func(u *user.User, services map[string]string) error {
					u.PublicProfile, u.ShowTags, u.Admin = false, false, false
					delete(services, "github")
					return nil
				})
			return err
		},
		func(ctx context.Context) error {
			return s.users.Delete(ctx, netip.Addr{}, auditlog.Entry{}, "bob", named(t, "bob"), nil)
		},
		func(ctx context.Context) error {
			return s.users.Delete(ctx, netip.Addr{}, auditlog.Entry{}, "cid", named(t, "cid"), &user.PasteRetention{})
		},
		func(ctx context.Context) error {
			_, _, err := s.users.Update(ctx, netip.Addr{}, auditlog.Entry{}, "dan",
				func(u *user.User, _ map[string]string) error {
					u.Suspended, u.PastesHidden = true, true
					return nil
				})
			return err
		},
		func(ctx context.Context) error { _, err := s.moderation.Hide(ctx, "dan", 100); return err },
		func(ctx context.Context) error {
			return s.moderation.Block(
				ctx,
				auditlog.Entry{},
				domain.Block{Network: netip.MustParsePrefix("192.0.2.0/24"), Reason: "spam", CreatedAt: time.Now()},
			)
		},
	)
	hash := identity.HashOf("newcomer")
	attempt := identity.Attempt{Provider: "oidc", Invitation: "used", Profile: identity.Profile{
		Identity: identity.Identity{Key: "oidc", Subject: "1"}, Name: "fay",
	}}
	all(t,
		func(ctx context.Context) error {
			return s.identities.StoreAttempt(ctx, netip.Addr{}, hash, attempt, 10)
		},
		func(ctx context.Context) error {
			return s.identities.SignUp(
				ctx,
				netip.Addr{},
				hash,
				user.User{ID: "fay", Name: named(t, "fay"), DefaultLanguage: "Go", CreatedAt: time.Now()},
			)
		},
	)
}

// standing returns the lines of contents of what must not come back, without what is only in a newer database.
func standing(t *testing.T, cfg gormstore.Config) string {
	t.Helper()
	var paths []string
	for line := range strings.Lines(contents(t, cfg)) {
		if !strings.Contains(line, `"fay"`) && !strings.HasPrefix(line, "paste_texts_by_trigram") {
			paths = append(paths, line)
		}
	}
	return strings.Join(paths, "")
}

// TestRestoreKeepsWhatWasUndone restores a backup over a database in which users and operators have taken some of it
// back.
func TestRestoreKeepsWhatWasUndone(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	i, file := installation{t, cfg.URL}, filepath.Join(t.TempDir(), "backup.db")
	store := database.Open(t, cfg)
	ports(store).manifold(t)
	i.do("backup " + file)
	before := contents(t, cfg)
	ports(store).undo(t)
	wanted := standing(t, cfg)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	got := i.do("restore --replace " + file)
	const undone = "What was deleted, removed or revoked since the backup stays so: " +
		"pastes that were given up: 6, pastes with fewer readers: 1, pastes that were removed: 6, pastes: 6, reports: 1, " +
		"users: 2, linked accounts: 1, tokens: 1, " +
		"sessions: 2, invitations: 1, passwords: 1, passkeys: 1, passwords that were changed: 1.\n"
	if !strings.Contains(got, undone) {
		t.Errorf("got\n%swant\n%s", got, undone)
	}
	if got := standing(t, cfg); got != wanted {
		t.Errorf("got\n%s\nwant\n%s", difference(got, wanted), difference(wanted, got))
	}
	after := database.Open(t, cfg)
	if err := after.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := ports(after).identities.LinkByHash(t.Context(), identity.Hash{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want no link of the backup", err)
	}
	data, err := os.ReadFile(database.SQLitePath(cfg))
	if err != nil || !strings.Contains(string(data), "secret of ann stays") ||
		strings.Contains(string(data), "secret of bob") ||
		strings.Contains(string(data), "secret of ann deleted") {
		t.Errorf("got other text in the file than that of ann-stays, or error %v", err)
	}
	if err := after.Close(); err != nil {
		t.Fatal(err)
	}

	got = i.do("restore --replace --with-deleted " + file)
	if strings.Contains(got, "stays so") {
		t.Errorf("got %s, want nothing that stays deleted", got)
	}
	if got := contents(t, cfg); got != before {
		t.Errorf("got\n%s\nwant\n%s", difference(got, before), difference(before, got))
	}
}

// difference returns the lines of a that b lacks.
func difference(a, b string) string {
	var lines []string
	for line := range strings.Lines(a) {
		if !strings.Contains(b, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// TestRestoreOverAnother restores a backup over another installation, where what is missing was never revoked.
func TestRestoreOverAnother(t *testing.T) {
	t.Parallel()
	cfg, other := database.SQLite(t), database.SQLite(t)
	file := filepath.Join(t.TempDir(), "backup.db")
	store := database.Open(t, cfg)
	ports(store).manifold(t)
	installation{t, cfg.URL}.do("backup " + file)
	db := database.SQL(t, other)
	if _, err := db.ExecContext(t.Context(), "UPDATE installation SET uid = 'another'"); err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	got := installation{t, other.URL}.do("restore --replace " + file)
	if strings.Contains(got, "stays so") {
		t.Errorf("got %s, want nothing that stays deleted", got)
	}
	if got, want := contents(t, other), contents(t, cfg); got != want {
		t.Errorf("got\n%s\nwant\n%s", difference(got, want), difference(want, got))
	}
}
