package integration

import (
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// TestAnswersAreOfOneInstant checks that answers come from one instant, by changing all data between the statements
// that read them.
func TestAnswersAreOfOneInstant(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(t *testing.T, s *service) (string, error){
		"an account": func(t *testing.T, s *service) (string, error) {
			a, err := s.users.AccountByID(t.Context(), "epoxy")
			return fmt.Sprint(a.Name, a.Identities, a.Stars), err
		},
		"an export": func(t *testing.T, s *service) (string, error) {
			e, err := s.tokens.Export(t.Context(), "epoxy")
			return fmt.Sprint(e.Name, e.FormerNames, e.Identities, e.Stars, len(e.Tokens)), err
		},
		"a list": func(t *testing.T, s *service) (string, error) {
			summaries, err := s.pastes.Select(t.Context(), "epoxy", paste.Selection{}, 10)
			return describe(summaries), err
		},
		"a profile": func(t *testing.T, s *service) (string, error) {
			owner, summaries, err := s.pastes.Profile(t.Context(), s.name, func(user.User) error {
				return nil
			}, paste.Selection{}, 10)
			return owner.AvatarURL + describe(summaries), err
		},
		"an account for administrators": func(t *testing.T, s *service) (string, error) {
			account, err := gormstore.NewModeration(s.store).AccountOf(t.Context(), "epoxy")
			return fmt.Sprint(account.Name, account.Pastes, account.Bytes, account.Tokens), err
		},
		"accounts for administrators": func(t *testing.T, s *service) (string, error) {
			accounts, err := gormstore.NewModeration(s.store).Accounts(
				t.Context(), moderation.AccountFilter{}, moderation.ByName, moderation.AccountCursor{}, 10)
			return fmt.Sprint(accounts[0].Name, accounts[0].Pastes, accounts[0].Bytes, accounts[0].Tokens), err
		},
		"credentials": func(t *testing.T, s *service) (string, error) {
			credentials, err := gormstore.NewIdentities(s.store).CredentialsOf(t.Context(), "epoxy")
			return fmt.Sprint(credentials.Identities, len(credentials.Passkeys)), err
		},
		"a passkey": func(t *testing.T, s *service) (string, error) {
			passkey, owner, err := gormstore.NewIdentities(s.store).PasskeyByID(t.Context(), "passkey")
			return fmt.Sprint(passkey.Counter, owner.Name), err
		},
		"a search": func(t *testing.T, s *service) (string, error) {
			query := search.Query{Words: []string{"code"}}
			results, _, err := gormstore.NewSearch(s.store).Find(t.Context(), query, "epoxy", search.Cursor{}, 10)
			return fmt.Sprint(results), err
		},
		"a paste": func(t *testing.T, s *service) (string, error) {
			d, err := s.pastes.ReadDocument(t.Context(), "paste", "epoxy")
			return fmt.Sprint(d.Title, d.Tags, d.Pasties, len(d.Edits), d.Starred), err
		},
		"the totals": func(t *testing.T, s *service) (string, error) {
			totals, err := gormstore.NewStats(s.store).Totals(t.Context())
			return fmt.Sprint(totals.Counts, totals.ContentBytes, totals.HistoryBytes, totals.Largest), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				writer := database.Open(t, cfg)
				var change atomic.Bool              // once, at the next statement
				cfg.SlowStatement = time.Nanosecond // the callback delays the statement's caller
				cfg.OnSlowStatement = func(s gormstore.Statement) {
					if strings.Contains(s.SQL, "FROM") && change.CompareAndSwap(true, false) {
						changeAll(t, writer)
					}
				}
				s := openService(t, cfg)
				created := newDocument("paste", "epoxy", "code")
				created.Visibility, created.Tags = paste.Public, []string{"before"}
				createDocument(t, s.pastes, created)
				_, _, err := s.users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, "epoxy",
					func(u *user.User, _ map[string]string) error {
						u.PublicProfile, u.ShowTags = true, true
						return nil
					})
				if err != nil {
					t.Fatal(err)
				}
				err = gormstore.NewIdentities(s.store).ChangeCredentials(t.Context(), netip.Addr{}, "epoxy", "",
					func(_ user.User, credentials *identity.Credentials) error {
						credentials.Passkeys = []identity.Passkey{{ID: "passkey", PublicKey: []byte{1}, CreatedAt: time.Now()}}
						return nil
					})
				if err != nil {
					t.Fatal(err)
				}
				before, err := read(t, s)
				if err != nil {
					t.Fatal(err)
				}
				change.Store(true)
				got, err := read(t, s)
				if err != nil || got != before {
					t.Errorf("got %s, error %v, want %s", got, err, before)
				}
				if after, _ := read(t, s); after == before || change.Load() { // the profile's user has another name now
					t.Errorf("got %s after the change, want another answer than before", after)
				}
			})
		})
	}
}

// describe returns the titles and tags of a list.
func describe(summaries []paste.Summary) (text string) {
	for _, summary := range summaries {
		text += fmt.Sprint(" ", summary.Title, summary.Tags)
	}
	return text
}

// changeAll changes the user epoxy and the user's pastes, stars and tokens.
func changeAll(t *testing.T, writer *gormstore.Store) {
	t.Helper()
	ctx, pastes, users, tokens := t.Context(), gormstore.NewPastes(writer), gormstore.NewUsers(writer),
		gormstore.NewTokens(writer)
	_, _, err := users.Update(ctx, netip.Addr{}, auditlog.Entry{}, "epoxy",
		func(u *user.User, services map[string]string) (err error) {
			services["github"], u.AvatarURL = "1", "https://example.com/after"
			u.Name, err = user.ParseName("after")
			return err
		})
	if err != nil {
		t.Error(err)
	}
	if err := pastes.Star(ctx, netip.Addr{}, "epoxy", "paste"); err != nil {
		t.Error(err)
	}
	created := token.Token{ID: "t2", Owner: "epoxy", Hash: token.Hash{2}, CreatedAt: time.Now()}
	if err := tokens.Create(ctx, netip.Addr{}, auditlog.Entry{}, created); err != nil {
		t.Error(err)
	}
	_, err = pastes.Update(ctx, auditlog.Entry{}, "paste", func(stored paste.Document) (paste.Change, error) {
		stored.Title, stored.Tags, stored.Pasties = "after", []string{"after"}, []paste.Pasty{{ID: "p", Code: "after"}}
		edits := []paste.Edit{{ID: "e", Text: "before", At: time.Unix(1, 0).UTC()}}
		stored.Edits = edits
		return paste.Change{Document: stored, Changed: true, NewEdits: edits}, nil
	})
	if err != nil {
		t.Error(err)
	}
}
