package integration

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
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

// races is a service with use cases, for tests of what happens between two of their statements.
type races struct {
	*service

	mod        *gormstore.Moderation
	identities *gormstore.Identities
	moderation *moderation.UseCases
}

func openRaces(t *testing.T, cfg gormstore.Config) *races {
	t.Helper()
	s := openService(t, cfg)
	r := &races{service: s, mod: gormstore.NewModeration(s.store), identities: gormstore.NewIdentities(s.store)}
	r.moderation = moderation.New(r.mod, s.users, s.tokens, catalogue.New(), nil, time.Now)
	return r
}

func (r *races) pastesOf(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		made := newDocument(fmt.Sprintf("p%06d", i), "epoxy", "code")
		made.CreatedAt = time.Now().Add(-time.Hour + time.Duration(i)*time.Second)
		createDocument(t, r.pastes, made)
	}
}

func (r *races) count(t *testing.T, query string) (n int) {
	t.Helper()
	if err := r.db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRaceHideBesideADeletion hides more than one batch, while a paste of the first one is deleted.
func TestRaceHideBesideADeletion(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	r := openRaces(t, cfg)
	r.pastesOf(t, 250)
	other := begin(t, r.db, "1min")
	// a reader burns it, its owner's request in flight deletes it
	exec(t, other, "DELETE FROM pastes WHERE id = 'p000200'")
	type result struct {
		hidden int
		err    error
	}
	done := make(chan result, 1)
	go func() {
		_, hidden, err := r.moderation.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true)
		done <- result{hidden, err}
	}()
	waitForWaiters(t, r.db, 1)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if left := r.count(t, shownPastes); left != 0 || got.err != nil {
		t.Errorf("got %d hidden, error %v, and %d pastes that everybody sees, want none", got.hidden, got.err, left)
	}
}

// TestRaceHideBesideExpiry hides several batches, and shows them again, while all pastes of a batch expire.
func TestRaceHideBesideExpiry(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	r.pastesOf(t, 250)
	const expires = "UPDATE pastes SET expires_at = now() WHERE id IN (SELECT id FROM pastes WHERE expires_at IS NULL AND "
	for _, step := range []struct {
		what, batch string
		do          func() error
	}{
		{"hide", expires + "removed_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 100)", func() error {
			_, _, err := r.moderation.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true)
			return err
		}},
		{"show", expires + "hidden LIMIT 100)", func() error {
			_, _, err := r.moderation.Suspend.Undo(t.Context(), audit.Operator(), "Epoxy")
			return err
		}},
	} {
		other := begin(t, r.db, "1min")
		exec(t, other, step.batch)
		done := make(chan error, 1)
		go func() { done <- step.do() }()
		waitForWaiters(t, r.db, 1)
		if err := other.Commit(); err != nil {
			t.Fatal(err)
		}
		err := <-done
		active := r.count(t, shownPastes+" AND expires_at IS NULL")
		hidden := r.count(t, "SELECT count(*) FROM pastes WHERE hidden AND expires_at IS NULL")
		if wrong := map[string]int{"hide": active, "show": hidden}[step.what]; err != nil || wrong > 0 {
			t.Errorf("%s: got %d pastes hidden and %d shown, error %v, want all of them done", step.what, hidden, active, err)
		}
	}
}

// interrupted calls between before the second Hide.
type interrupted struct {
	domain.Store

	calls   int
	between func()
}

func (i *interrupted) Hide(ctx context.Context, owner user.ID, limit int) (int, error) {
	if i.calls++; i.calls == 2 {
		i.between()
	}
	return i.Store.Hide(ctx, owner, limit)
}

const shownPastes = "SELECT count(*) FROM pastes WHERE removed_at IS NULL"

// TestRaceUnsuspendWhileHiding ends a suspension while its pastes are still being hidden.
func TestRaceUnsuspendWhileHiding(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		r := openRaces(t, cfg)
		r.pastesOf(t, 250)
		store := &interrupted{Store: r.mod, between: func() {
			if _, _, err := r.moderation.Suspend.Undo(t.Context(), audit.Operator(), "Epoxy"); err != nil {
				t.Error(err)
			}
		}}
		module := moderation.New(store, r.users, r.tokens, catalogue.New(), nil, time.Now)
		_, _, err := module.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true)
		found, _ := r.users.ByID(t.Context(), "epoxy")
		if left := r.count(t, shownPastes); err == nil && !found.Suspended && left != 250 {
			t.Errorf("got %d pastes of a user who is not suspended (error %v), want 250", left, err)
		}
	})
}

// TestRaceUnhideBesideARemoval removes a hidden paste while the others are shown again.
func TestRaceUnhideBesideARemoval(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	r := openRaces(t, cfg)
	r.pastesOf(t, 50)
	if _, n, err := r.moderation.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true); err != nil || n != 50 {
		t.Fatal(n, err)
	}
	other := begin(t, r.db, "1min")
	exec(t, other, "UPDATE pastes SET hidden = false WHERE id = 'p000020'") // as Moderation.Remove does
	done := make(chan error, 1)
	go func() {
		_, _, err := r.moderation.Suspend.Undo(t.Context(), audit.Operator(), "Epoxy")
		done <- err
	}()
	waitForWaiters(t, r.db, 1)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	err := <-done
	if left := r.count(t, shownPastes); left != 49 || err != nil {
		t.Errorf("got error %v, and %d pastes shown, want 49", err, left)
	}
}

// TestRaceDeletionBesideADeletion deletes a user with more than one batch of pastes, while a paste of the first one is
// deleted: no other paste goes with the user.
func TestRaceDeletionBesideADeletion(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		retention            *user.PasteRetention
		shown, withTombstone int
	}{
		"with its pastes":    {nil, 0, 249},
		"without its pastes": {&user.PasteRetention{}, 249, 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := openRaces(t, database.Postgres(t))
			r.pastesOf(t, 250)
			other := begin(t, r.db, "1min")
			exec(t, other, "DELETE FROM pastes WHERE id = 'p000200'") // as the sweep does
			done := make(chan error, 1)
			go func() {
				done <- r.users.Delete(t.Context(), netip.Addr{}, auditlog.Entry{}, "epoxy", r.name, c.retention)
			}()
			waitForWaiters(t, r.db, 1)
			if err := other.Commit(); err != nil {
				t.Fatal(err)
			}
			err := <-done
			shown := r.count(t, shownPastes)
			tombstones := r.count(t, "SELECT count(*) FROM tombstones WHERE kind = 'paste'")
			if err != nil || shown != c.shown || tombstones != c.withTombstone {
				t.Errorf("got %v, %d pastes and %d tombstones of pastes, want %d and %d", err, shown, tombstones, c.shown,
					c.withTombstone)
			}
		})
	}
}

// TestRacePurgeBesideARestore restores a removed paste of a user whose pastes are hidden, while its content is purged:
// it is hidden then, and comes back with the others.
func TestRacePurgeBesideARestore(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	r.pastesOf(t, 1)
	if err := r.moderation.Remove.Do(t.Context(), audit.Operator(), "p000000", "spam"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.moderation.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true); err != nil {
		t.Fatal(err)
	}
	other := begin(t, r.db, "1min") // only has both wait
	exec(t, other, "SELECT FROM tombstones FOR UPDATE")
	restored, purged := make(chan error, 1), make(chan error, 1)
	go func() { restored <- r.moderation.Remove.Undo(t.Context(), audit.Operator(), "p000000") }()
	waitForWaiters(t, r.db, 1)
	go func() { _, err := r.pastes.PurgeRemoved(t.Context(), 0, 100); purged <- err }()
	waitForWaiters(t, r.db, 2)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-restored, <-purged); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.moderation.Suspend.Undo(t.Context(), audit.Operator(), "Epoxy"); err != nil {
		t.Errorf("got %v, want the suspension to end", err)
	}
	if shown := r.count(t, shownPastes); shown != 1 {
		t.Errorf("got %d pastes after the suspension, want the one that was restored", shown)
	}
}

// TestRaceNameGivenUpBesideASignUp asks for a name at the moment that its user gives it up: it is reserved from then
// on.
func TestRaceNameGivenUpBesideASignUp(t *testing.T) {
	t.Parallel()
	for what, giveUp := range map[string]func(t *testing.T, r *races) error{
		"renamed": func(t *testing.T, r *races) error {
			_, _, err := r.users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, "epoxy",
				func(u *user.User, services map[string]string) error {
					u.Name = parseName(t, "Resin")
					delete(services, "github")
					return nil
				})
			return err
		},
		"deleted": func(t *testing.T, r *races) error {
			return r.users.Delete(t.Context(), netip.Addr{}, auditlog.Entry{}, "epoxy", r.name, nil)
		},
	} {
		for who, take := range map[string]func(t *testing.T, r *races) error{
			"a newcomer": func(t *testing.T, r *races) error {
				thief := user.User{ID: "thief", Name: r.name, CreatedAt: time.Now()}
				return r.identities.SignUp(t.Context(), netip.Addr{}, identity.HashOf("secret"), thief)
			},
			"another user": func(t *testing.T, r *races) error {
				_, _, err := r.users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, "other",
					func(u *user.User, _ map[string]string) error {
						u.Name = r.name
						return nil
					})
				return err
			},
		} {
			t.Run(what+", "+who, func(t *testing.T) {
				t.Parallel()
				r := openRaces(t, database.Postgres(t))
				exec(t, r.db, "INSERT INTO identities VALUES ('epoxy', 'github', '1')")
				another := user.User{ID: "other", Name: parseName(t, "other"), CreatedAt: time.Now()}
				database.CreateUser(t, r.store, another)
				attempt := identity.Attempt{Provider: "github",
					Profile: identity.Profile{Identity: identity.Identity{Key: "github", Subject: "9"}}}
				err := r.identities.StoreAttempt(t.Context(), netip.Addr{}, identity.HashOf("secret"), attempt, 100)
				if err != nil {
					t.Fatal(err)
				}
				other := begin(t, r.db, "1min") // only makes the transaction last
				exec(t, other, "SELECT FROM identities WHERE user_id = 'epoxy' FOR UPDATE")
				gone, taken := make(chan error, 1), make(chan error, 1)
				go func() { gone <- giveUp(t, r) }()
				waitForWaiters(t, r.db, 1)
				go func() { taken <- take(t, r) }()
				waitForWaiters(t, r.db, 2)
				if err := other.Commit(); err != nil {
					t.Fatal(err)
				}
				if err := <-gone; err != nil {
					t.Fatal(err)
				}
				if err := <-taken; !fault.Is(err, fault.Conflict) {
					t.Errorf("got %v, want the name reserved", err)
				}
			})
		}
	}
}

// TestRaceForgetClientsBesideACreation uses up a quota while the sweep forgets full ones.
func TestRaceForgetClientsBesideACreation(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	brief := paste.Allowance{Rate: paste.Quota{Pastes: 1, Window: time.Millisecond}}
	day := paste.Allowance{Rate: paste.Quota{Pastes: 1, Window: 24 * time.Hour}}
	if _, err := r.pastes.CreateAllowed(t.Context(), netip.Addr{}, brief, "client",
		newDocument("first", "", "code")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond) // the client has its whole quota again
	other := begin(t, r.db, "1min")   // only makes the transaction last
	exec(t, other, "SELECT FROM users WHERE id = 'epoxy' FOR UPDATE")
	created, swept := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := r.pastes.CreateAllowed(t.Context(), netip.Addr{}, day, "client", newDocument("second", "epoxy", "code"))
		created <- err
	}()
	waitForWaiters(t, r.db, 1)
	go func() { _, err := r.pastes.ForgetClients(t.Context(), 100); swept <- err }()
	waitForWaiters(t, r.db, 2)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-created, <-swept); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pastes.CreateAllowed(t.Context(), netip.Addr{}, day, "client",
		newDocument("third", "", "code")); !fault.Is(err,
		fault.Exhausted) {
		t.Errorf("got %v, want the quota used up", err)
	}
}

// TestRaceUnstarBesideImport takes a star back during an import that says nothing of stars.
func TestRaceUnstarBesideImport(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	r.pastesOf(t, 1)
	results, err := r.users.Import(t.Context(), imported(t, "a=a", "b=b"))
	outcomes(t, results, err)
	if err := r.pastes.Star(t.Context(), netip.Addr{}, "a", "p000000"); err != nil {
		t.Fatal(err)
	}
	other := begin(t, r.db, "1min") // only makes the import last
	exec(t, other, `INSERT INTO users (id, username, avatar_url, default_language, public_profile,
		supporter_months, contributor, created_at)
		VALUES ('late', 'z', '', '', true, 0, false, now())`)
	done := make(chan string)
	go func() {
		again := imported(t, "a=a", "b=z") // without stars
		again[0].DefaultLanguage = new("C")
		results, err := r.users.Import(t.Context(), again)
		done <- outcomes(t, results, err)
	}()
	waitForWaiters(t, r.db, 1)
	taken := make(chan error, 1)
	go func() { taken <- r.pastes.Unstar(t.Context(), netip.Addr{}, "a", "p000000") }()
	time.Sleep(100 * time.Millisecond) // it is done, or waits for the import
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != "UU" {
		t.Errorf("got %s, want UU", got)
	}
	account, err := r.users.AccountByID(t.Context(), "a")
	if err != nil || len(account.Stars) != 0 {
		t.Errorf("got the stars %v, error %v, want none: it was taken back", account.Stars, err)
	}
}

// TestRaceRemoveBesideAnEdit removes a paste that its owner, who has an allowance, edits.
func TestRaceRemoveBesideAnEdit(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.ConnectTimeout = time.Minute
	r := openRaces(t, cfg)
	r.pastesOf(t, 1)
	other := begin(t, r.db, "1min") // only has both wait
	exec(t, other, "SELECT FROM pastes WHERE id = 'p000000' FOR UPDATE")
	removed, edited := make(chan error, 1), make(chan error, 1)
	go func() { removed <- r.moderation.Remove.Do(t.Context(), audit.Operator(), "p000000", "spam") }()
	waitForWaiters(t, r.db, 1)
	go func() {
		_, err := r.pastes.UpdateAllowed(t.Context(), netip.Addr{}, paste.Allowance{Bytes: 1 << 20}, "", "epoxy", "p000000",
			func(stored paste.Document) (paste.Change, error) {
				stored.Title += "!"
				return paste.Change{Document: stored, Changed: true}, nil
			})
		edited <- err
	}()
	waitForWaiters(t, r.db, 2)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if removed, edited := <-removed, <-edited; removed != nil || !fault.Is(edited, fault.NotFound) {
		t.Errorf("got %v of removing and %v of editing, want it removed first", removed, edited)
	}
	wantNoDeadlocks(t, r.db)
}

// TestRaceCloseReportBesideHide closes a report of a paste that is being hidden: if it says closed, it is not open
// again afterwards.
func TestRaceCloseReportBesideHide(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	r.pastesOf(t, 1)
	report := domain.Report{ID: "r", Paste: "p000000", Reason: "spam", At: time.Now()}
	if err := r.mod.Report(t.Context(), netip.Addr{}, report, "", "c", paste.Quota{}); err != nil {
		t.Fatal(err)
	}
	exec(t, r.db, "UPDATE users SET suspended = true, pastes_hidden = true")
	other := begin(t, r.db, "1min") // only makes hiding last
	exec(t, other, "SELECT 1 FROM pastes FOR UPDATE")
	done := make(chan error, 1)
	go func() { _, err := r.mod.Hide(t.Context(), "epoxy", 100); done <- err }()
	waitForWaiters(t, r.db, 1)
	closed := make(chan error, 1)
	go func() { closed <- r.moderation.Report.Close(t.Context(), audit.Operator(), "r") }()
	time.Sleep(100 * time.Millisecond) // it is done, or waits for the paste to be hidden
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wanted := 0
	if err := <-closed; err != nil { // it is hidden already
		wanted = 1
	}
	exec(t, r.db, "UPDATE users SET suspended = false, pastes_hidden = false")
	if _, err := r.mod.Unhide(t.Context(), "epoxy", 100); err != nil {
		t.Fatal(err)
	}
	open, err := r.mod.Reports(t.Context(), domain.Report{}, 10)
	if err != nil || len(open) != wanted {
		t.Errorf("got the open reports %v, error %v, want %d", open, err, wanted)
	}
}

// TestRaceSessionWhileSuspended begins a session for a user who is being suspended.
func TestRaceSessionWhileSuspended(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	other := begin(t, r.db, "1min")
	exec(t, other, "UPDATE users SET suspended = true")
	done := make(chan error, 1)
	go func() {
		sessions, visitor := tokens.New(r.tokens, r.users, time.Now).Sessions, audit.By(token.Viewer{}, netip.Addr{})
		_, err := sessions.Start(t.Context(), visitor, "epoxy", token.Token{}, "browser", "")
		done <- err
	}()
	waitForWaiters(t, r.db, 1)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, token.ErrSuspended) {
		t.Errorf("got %v, want no session", err)
	}
}

// TestRaceEndSessionsBesideUses ends sessions whose last uses are being stored.
func TestRaceEndSessionsBesideUses(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.ConnectTimeout = time.Minute
	r := openRaces(t, cfg)
	for _, id := range []token.ID{"z", "a"} { // their order in the table
		err := r.tokens.StartSession(t.Context(), netip.Addr{}, token.Token{
			ID: id, Owner: "epoxy", Kind: token.Session, Hash: token.Generate().Hash(), CreatedAt: time.Now(),
			ExpiresAt: time.Now().Add(time.Hour),
		}, token.Hash{})
		if err != nil {
			t.Fatal(err)
		}
	}
	other := begin(t, r.db, "1min")
	exec(t, other, "SELECT FROM access_tokens WHERE id = 'a' FOR UPDATE")
	done := make(chan error, 2)
	go func() {
		done <- r.tokens.SetLastUsed(t.Context(), map[token.ID]time.Time{"a": time.Now(), "z": time.Now()})
	}()
	waitForWaiters(t, r.db, 1)
	go func() {
		_, err := r.tokens.EndSessions(t.Context(), netip.Addr{}, auditlog.Entry{}, "epoxy", "")
		done <- err
	}()
	waitForWaiters(t, r.db, 2)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	wantNoDeadlocks(t, r.db)
}

// slowProvider does something else while it verifies.
type slowProvider struct{ meanwhile func() }

func (slowProvider) Begin(context.Context, identity.Proof) (string, error) {
	return "https://id.example/", nil
}

func (p slowProvider) Finish(context.Context, identity.Proof, identity.Callback) (identity.Profile, error) {
	p.meanwhile()
	return identity.Profile{Identity: identity.Identity{Subject: "666"}, Name: "attacker"}, nil
}

// TestRaceLinkWhileTheSessionEnds ends a session that links an account, while the provider is asked.
func TestRaceLinkWhileTheSessionEnds(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"sessions end", "suspended"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				r := openRaces(t, cfg)
				use := tokens.New(r.tokens, r.users, time.Now)
				provider := slowProvider{func() {
					if what == "suspended" {
						if _, _, err := r.moderation.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "stolen", false); err != nil {
							t.Error(err)
						}
					} else if n, err := use.Sessions.EndAll(t.Context(), audit.Operator(), "Epoxy"); n != 1 || err != nil {
						t.Error(n, err)
					}
				}}
				signing := accounts.New(r.identities, r.users, accounts.Options{
					Providers:    []identity.Provider{{ProviderClient: provider, Name: "github", Label: "GitHub", Key: "github"}},
					Registration: accounts.Closed,
				}, time.Now)
				stolen, err := use.Sessions.Start(t.Context(), audit.By(token.Viewer{}, netip.Addr{}), "epoxy", token.Token{},
					"browser", "")
				if err != nil {
					t.Fatal(err)
				}
				viewer, err := use.SignIn.Resume(t.Context(), stolen.Reveal())
				if err != nil {
					t.Fatal(err)
				}
				resume := func(ctx context.Context) (token.Viewer, error) { return use.SignIn.Resume(ctx, stolen.Reveal()) }
				begun, err := signing.BeginSignIn.Do(t.Context(), audit.By(viewer, netip.Addr{}),
					accounts.BeginInput{Provider: "github", Link: true})
				if err != nil {
					t.Fatal(err)
				}
				callback := identity.Callback{State: begun.State, Code: "code"}
				visitor := audit.By(token.Viewer{}, netip.Addr{})
				arrived, err := signing.FinishSignIn.Do(t.Context(), visitor, resume, "github", begun.Secret, callback)
				if err == nil || arrived.Linked {
					found, err := r.identities.ByIdentity(t.Context(), identity.Identity{Key: "github", Subject: "666"})
					t.Errorf("got %+v; the attacker's account now signs in as %v, error %v; want nothing linked", arrived,
						found.Name, err)
				}
			})
		})
	}
}

// bothRead lets two callers of Attempt go on together.
type bothRead struct {
	identity.Store

	readers sync.WaitGroup
}

func (b *bothRead) Attempt(ctx context.Context, hash identity.Hash) (identity.Attempt, error) {
	found, err := b.Store.Attempt(ctx, hash)
	b.readers.Done()
	b.readers.Wait()
	return found, err
}

// TestRaceSignUpTwice sends the form with a new name twice at once: both get the account.
func TestRaceSignUpTwice(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		r := openRaces(t, cfg)
		store := &bothRead{Store: r.identities}
		store.readers.Add(2)
		signing := accounts.New(store, r.users, accounts.Options{
			Providers: []identity.Provider{{Name: "github", Key: "github"}}, Registration: accounts.Open,
		}, time.Now)
		attempt := identity.Attempt{Provider: "github",
			Profile: identity.Profile{Identity: identity.Identity{Key: "github", Subject: "7"}}}
		if err := r.identities.StoreAttempt(t.Context(), netip.Addr{}, identity.HashOf("secret"), attempt, 1000); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				got, _, err := signing.SignUp.Do(t.Context(), audit.By(token.Viewer{}, netip.Addr{}), "secret", "newcomer")
				if err != nil || got.Name.String() != "newcomer" {
					t.Errorf("got %v, error %v, want the account", got.Name, err)
				}
			})
		}
		both.Wait()
	})
}

// beforeTags calls act before the tags of a list are read.
type beforeTags struct {
	once sync.Once
	act  func()
}

func (b *beforeTags) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(data.SQL, "SELECT") && strings.Contains(data.SQL, `FROM "paste_tags"`) && b.act != nil {
		b.once.Do(b.act)
	}
	return ctx
}

func (*beforeTags) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestRaceTagsOfAPasteThatBecomesPrivate makes a paste private, and tags it, while a visitor reads the profile.
func TestRaceTagsOfAPasteThatBecomesPrivate(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	owner := openRaces(t, cfg)
	exec(t, owner.db, "UPDATE users SET public_profile = true, show_tags = true")
	made := newDocument("p", "epoxy", "code")
	made.Visibility, made.Tags = paste.Public, []string{"harmless"}
	createDocument(t, owner.pastes, made)
	b := new(beforeTags)
	cfg.Tracer = b
	strangers := gormstore.NewPastes(database.Open(t, cfg))
	b.act = func() {
		b.act = nil
		_, err := owner.pastes.Update(t.Context(), auditlog.Entry{}, "p", func(stored paste.Document) (paste.Change, error) {
			stored.Visibility, stored.Tags = paste.Private, []string{"secret"}
			return paste.Change{Document: stored, Changed: true}, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	found, err := pastes.New(strangers, owner.users, pastes.Options{}, time.Now).Browse.Public(t.Context(), "Epoxy",
		paste.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Pastes) != 1 || b.act != nil {
		t.Fatalf("got %d pastes, and the tags never read: this test shows nothing", len(found.Pastes))
	}
	for _, one := range found.Pastes {
		if slices.Contains(one.Tags, "secret") {
			t.Errorf("got a stranger to see %q as %v with the tags %q, which it has only since it is private", one.Title,
				one.Visibility, one.Tags)
		}
	}
}

// thenHides calls act once a user was found by name.
type thenHides struct {
	user.Store

	act func()
}

func (h thenHides) ByName(ctx context.Context, name user.Name) (user.User, error) {
	defer h.act()
	return h.Store.ByName(ctx, name)
}

// TestRacePasteOfAProfileThatBecomesPrivate makes the profile private, and only then a paste public, while a visitor
// reads the profile.
func TestRacePasteOfAProfileThatBecomesPrivate(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		r := openRaces(t, cfg)
		exec(t, r.db, "UPDATE users SET public_profile = true")
		createDocument(t, r.pastes, newDocument("p", "epoxy", "code"))
		users := thenHides{r.users, func() {
			_, _, err := r.users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, "epoxy",
				func(u *user.User, _ map[string]string) error {
					u.PublicProfile = false
					return nil
				})
			if err != nil {
				t.Error(err)
			}
			_, err = r.pastes.Update(t.Context(), auditlog.Entry{}, "p", func(stored paste.Document) (paste.Change, error) {
				stored.Visibility = paste.Public
				return paste.Change{Document: stored, Changed: true}, nil
			})
			if err != nil {
				t.Error(err)
			}
		}}
		found, err := pastes.New(r.pastes, users, pastes.Options{}, time.Now).Browse.Public(t.Context(), "Epoxy",
			paste.Selection{})
		if err != nil || len(found.Pastes) > 0 {
			t.Errorf("got %d pastes, error %v, want none: nobody could find it while the profile was public",
				len(found.Pastes), err)
		}
	})
}
