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

// races is a service with use cases, for tests of changes between two of their statements.
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

// createPastes stores n pastes of epoxy.
func (r *races) createPastes(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		document := newDocument(fmt.Sprintf("p%06d", i), "epoxy", "code")
		document.CreatedAt = time.Now().Add(-time.Hour + time.Duration(i)*time.Second)
		createDocument(t, r.pastes, document)
	}
}

func (r *races) count(t *testing.T, query string) (n int) {
	t.Helper()
	if err := r.db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRaceHideBesideADeletion hides several batches of pastes, while a paste of the first batch is deleted.
func TestRaceHideBesideADeletion(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	r := openRaces(t, cfg)
	r.createPastes(t, 250)
	other := begin(t, r.db, "1min")
	// A reader burns it, or a request of its owner is in flight.
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
	if visible := r.count(t, countVisible); visible != 0 || got.err != nil {
		t.Errorf("got %d hidden, error %v, and %d visible pastes, want none", got.hidden, got.err, visible)
	}
}

// TestRaceHideBesideExpiry hides several batches of pastes, and unhides them, while all pastes of a batch expire.
func TestRaceHideBesideExpiry(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	r.createPastes(t, 250)
	const expire = "UPDATE pastes SET expires_at = now() WHERE id IN (SELECT id FROM pastes WHERE expires_at IS NULL AND "
	for _, step := range []struct {
		what, batch string
		do          func() error
	}{
		{"hide", expire + "removed_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 100)", func() error {
			_, _, err := r.moderation.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true)
			return err
		}},
		{"unhide", expire + "hidden LIMIT 100)", func() error {
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
		active := r.count(t, countVisible+" AND expires_at IS NULL")
		hidden := r.count(t, "SELECT count(*) FROM pastes WHERE hidden AND expires_at IS NULL")
		if wrong := map[string]int{"hide": active, "unhide": hidden}[step.what]; err != nil || wrong > 0 {
			t.Errorf("%s: got %d hidden and %d visible pastes, error %v, want all of them changed", step.what, hidden, active,
				err)
		}
	}
}

// hideHook is a store that calls between before the second Hide.
type hideHook struct {
	domain.Store

	calls   int
	between func()
}

func (h *hideHook) Hide(ctx context.Context, owner user.ID, limit int) (int, error) {
	if h.calls++; h.calls == 2 {
		h.between()
	}
	return h.Store.Hide(ctx, owner, limit)
}

const countVisible = "SELECT count(*) FROM pastes WHERE removed_at IS NULL"

// TestRaceUnsuspendWhileHiding ends a suspension while the user's pastes are still being hidden.
func TestRaceUnsuspendWhileHiding(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		r := openRaces(t, cfg)
		r.createPastes(t, 250)
		store := &hideHook{Store: r.mod, between: func() {
			if _, _, err := r.moderation.Suspend.Undo(t.Context(), audit.Operator(), "Epoxy"); err != nil {
				t.Error(err)
			}
		}}
		module := moderation.New(store, r.users, r.tokens, catalogue.New(), nil, time.Now)
		_, _, err := module.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true)
		epoxy, _ := r.users.ByID(t.Context(), "epoxy")
		if visible := r.count(t, countVisible); err == nil && !epoxy.Suspended && visible != 250 {
			t.Errorf("got %d visible pastes of a user who is not suspended (error %v), want 250", visible, err)
		}
	})
}

// TestRaceHideBesideACreation suspends a user while a paste of the user is being created: the paste is refused, or
// hidden with the others.
func TestRaceHideBesideACreation(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	create := func(id string) error {
		_, err := r.pastes.CreateAllowed(t.Context(), netip.Addr{}, paste.Allowance{}, "", newDocument(id, "epoxy", "spam"))
		return err
	}
	suspended, created := make(chan error, 1), make(chan error, 1)
	suspend := func() {
		_, _, err := r.moderation.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true)
		suspended <- err
	}
	for what, c := range map[string]struct {
		first, second func()
		want          error
	}{
		"suspended first": {suspend, func() { created <- create("late") }, token.ErrSuspended},
		"created first":   {func() { created <- create("early") }, suspend, nil},
	} {
		exec(t, r.db, "UPDATE users SET suspended = false, pastes_hidden = false")
		other := begin(t, r.db, "1min") // only has both wait
		exec(t, other, "SELECT FROM users WHERE id = 'epoxy' FOR UPDATE")
		go c.first()
		waitForWaiters(t, r.db, 1)
		go c.second()
		waitForWaiters(t, r.db, 2)
		if err := other.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-created; !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", what, err, c.want)
		}
		if err := <-suspended; err != nil {
			t.Fatal(err)
		}
		if visible := r.count(t, countVisible); visible != 0 {
			t.Errorf("%s: got %d pastes visible, want none", what, visible)
		}
	}
}

// TestRaceUnhideBesideARemoval removes a hidden paste while the others are unhidden.
func TestRaceUnhideBesideARemoval(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	r := openRaces(t, cfg)
	r.createPastes(t, 50)
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
	if visible := r.count(t, countVisible); visible != 49 || err != nil {
		t.Errorf("got error %v and %d visible pastes, want 49", err, visible)
	}
}

// TestRaceDeletionBesideADeletion deletes a user with more than one batch of pastes, while a paste of the first one is
// deleted: no other paste goes with the user.
func TestRaceDeletionBesideADeletion(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		retention           *user.PasteRetention
		visible, tombstones int
	}{
		"with its pastes":    {nil, 0, 249},
		"without its pastes": {&user.PasteRetention{}, 249, 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := openRaces(t, database.Postgres(t))
			r.createPastes(t, 250)
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
			visible := r.count(t, countVisible)
			tombstones := r.count(t, "SELECT count(*) FROM tombstones WHERE kind = 'paste'")
			if err != nil || visible != c.visible || tombstones != c.tombstones {
				t.Errorf("got error %v, %d visible pastes and %d tombstones of pastes, want %d and %d", err, visible, tombstones,
					c.visible, c.tombstones)
			}
		})
	}
}

// TestRacePurgeBesideARestore restores a removed paste of a user whose pastes are hidden, while its content is purged.
// It must be hidden, and visible again after the suspension.
func TestRacePurgeBesideARestore(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	r.createPastes(t, 1)
	if err := r.moderation.Remove.Do(t.Context(), audit.Operator(), "p000000", "spam"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.moderation.Suspend.Do(t.Context(), audit.Operator(), "Epoxy", "spam", true); err != nil {
		t.Fatal(err)
	}
	other := begin(t, r.db, "1min") // makes both wait
	exec(t, other, "SELECT FROM tombstones FOR UPDATE")
	restore, purge := make(chan error, 1), make(chan error, 1)
	go func() { restore <- r.moderation.Remove.Undo(t.Context(), audit.Operator(), "p000000") }()
	waitForWaiters(t, r.db, 1)
	go func() { _, err := r.pastes.PurgeRemoved(t.Context(), 0, 100); purge <- err }()
	waitForWaiters(t, r.db, 2)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-restore, <-purge); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.moderation.Suspend.Undo(t.Context(), audit.Operator(), "Epoxy"); err != nil {
		t.Errorf("got %v, want the suspension to end", err)
	}
	if visible := r.count(t, countVisible); visible != 1 {
		t.Errorf("got %d visible pastes after the suspension, want 1, the restored one", visible)
	}
}

// TestRaceNameGivenUpBesideASignUp asks for a name at the moment when its user gives it up. It must be reserved.
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
				other := begin(t, r.db, "1min") // prolongs the transaction
				exec(t, other, "SELECT FROM identities WHERE user_id = 'epoxy' FOR UPDATE")
				giveUpResult, takeResult := make(chan error, 1), make(chan error, 1)
				go func() { giveUpResult <- giveUp(t, r) }()
				waitForWaiters(t, r.db, 1)
				go func() { takeResult <- take(t, r) }()
				waitForWaiters(t, r.db, 2)
				if err := other.Commit(); err != nil {
					t.Fatal(err)
				}
				if err := <-giveUpResult; err != nil {
					t.Fatal(err)
				}
				if err := <-takeResult; !fault.Is(err, fault.Conflict) {
					t.Errorf("got %v, want fault.Conflict", err)
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
	other := begin(t, r.db, "1min")   // prolongs the transaction
	exec(t, other, "SELECT FROM users WHERE id = 'epoxy' FOR UPDATE")
	createResult, sweepResult := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := r.pastes.CreateAllowed(t.Context(), netip.Addr{}, day, "client", newDocument("second", "epoxy", "code"))
		createResult <- err
	}()
	waitForWaiters(t, r.db, 1)
	go func() { _, err := r.pastes.ForgetClients(t.Context(), 100); sweepResult <- err }()
	waitForWaiters(t, r.db, 2)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-createResult, <-sweepResult); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pastes.CreateAllowed(t.Context(), netip.Addr{}, day, "client",
		newDocument("third", "", "code")); !fault.Is(err,
		fault.Exhausted) {
		t.Errorf("got %v, want fault.Exhausted", err)
	}
}

// TestRaceUnstarBesideImport removes a star during an import without stars.
func TestRaceUnstarBesideImport(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	r.createPastes(t, 1)
	results, err := r.users.Import(t.Context(), newAccounts(t, "a=a", "b=b"))
	outcomes(t, results, err)
	if err := r.pastes.Star(t.Context(), netip.Addr{}, "a", "p000000"); err != nil {
		t.Fatal(err)
	}
	other := begin(t, r.db, "1min") // prolongs the import
	exec(t, other, `INSERT INTO users (id, username, avatar_url, default_language, public_profile,
		supporter_months, contributor, created_at)
		VALUES ('late', 'z', '', '', true, 0, false, now())`)
	done := make(chan string)
	go func() {
		again := newAccounts(t, "a=a", "b=z") // without stars
		again[0].DefaultLanguage = new("C")
		results, err := r.users.Import(t.Context(), again)
		done <- outcomes(t, results, err)
	}()
	waitForWaiters(t, r.db, 1)
	unstarResult := make(chan error, 1)
	go func() { unstarResult <- r.pastes.Unstar(t.Context(), netip.Addr{}, "a", "p000000") }()
	time.Sleep(100 * time.Millisecond) // until it is done or waits for the import
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-unstarResult; err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != "UU" {
		t.Errorf("got %s, want UU", got)
	}
	account, err := r.users.AccountByID(t.Context(), "a")
	if err != nil || len(account.Stars) != 0 {
		t.Errorf("got the stars %v, error %v, want none", account.Stars, err)
	}
}

// TestRaceRemoveBesideAnEdit removes a paste while its owner, who has an allowance, edits it.
func TestRaceRemoveBesideAnEdit(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.ConnectTimeout = time.Minute
	r := openRaces(t, cfg)
	r.createPastes(t, 1)
	other := begin(t, r.db, "1min") // makes both wait
	exec(t, other, "SELECT FROM pastes WHERE id = 'p000000' FOR UPDATE")
	removeResult, editResult := make(chan error, 1), make(chan error, 1)
	go func() { removeResult <- r.moderation.Remove.Do(t.Context(), audit.Operator(), "p000000", "spam") }()
	waitForWaiters(t, r.db, 1)
	go func() {
		_, err := r.pastes.UpdateAllowed(t.Context(), netip.Addr{}, paste.Allowance{Bytes: 1 << 20}, "", "epoxy", "p000000",
			func(stored paste.Document) (paste.Change, error) {
				stored.Title += "!"
				return paste.Change{Document: stored, Changed: true}, nil
			})
		editResult <- err
	}()
	waitForWaiters(t, r.db, 2)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	removeErr, editErr := <-removeResult, <-editResult
	if removeErr != nil || !fault.Is(editErr, fault.NotFound) {
		t.Errorf("got %v for the removal and %v for the edit, want the removal first", removeErr, editErr)
	}
	wantNoDeadlocks(t, r.db)
}

// TestRaceCloseReportBesideHide closes a report of a paste while the paste is being hidden. If that succeeds, the
// report must not be open again afterwards.
func TestRaceCloseReportBesideHide(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	r.createPastes(t, 1)
	report := domain.Report{ID: "r", Paste: "p000000", Reason: "spam", At: time.Now()}
	if err := r.mod.Report(t.Context(), netip.Addr{}, report, "", "c", paste.Quota{}); err != nil {
		t.Fatal(err)
	}
	exec(t, r.db, "UPDATE users SET suspended = true, pastes_hidden = true")
	other := begin(t, r.db, "1min") // prolongs the hiding
	exec(t, other, "SELECT 1 FROM pastes FOR UPDATE")
	done := make(chan error, 1)
	go func() { _, err := r.mod.Hide(t.Context(), "epoxy", 100); done <- err }()
	waitForWaiters(t, r.db, 1)
	closeResult := make(chan error, 1)
	go func() { closeResult <- r.moderation.Report.Close(t.Context(), audit.Operator(), "r") }()
	time.Sleep(100 * time.Millisecond) // until it is done or waits for the hiding
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want := 0
	if err := <-closeResult; err != nil { // the paste was hidden first
		want = 1
	}
	exec(t, r.db, "UPDATE users SET suspended = false, pastes_hidden = false")
	if _, err := r.mod.Unhide(t.Context(), "epoxy", 100); err != nil {
		t.Fatal(err)
	}
	open, err := r.mod.Reports(t.Context(), domain.Report{}, 10)
	if err != nil || len(open) != want {
		t.Errorf("got the open reports %v, error %v, want %d", open, err, want)
	}
}

// TestRaceSessionWhileSuspended starts a session of a user who is being suspended.
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
		t.Errorf("got %v, want token.ErrSuspended", err)
	}
}

// TestRaceEndSessionsBesideUses ends sessions while their last-used times are being stored.
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

// slowProvider calls a function while it verifies a sign-in.
type slowProvider struct{ during func() }

func (slowProvider) Begin(context.Context, identity.Proof) (string, error) {
	return "https://id.example/", nil
}

func (p slowProvider) Finish(context.Context, identity.Proof, identity.Callback) (identity.Profile, error) {
	p.during()
	return identity.Profile{Identity: identity.Identity{Subject: "666"}, Name: "attacker"}, nil
}

// TestRaceLinkWhileTheSessionEnds ends a session that links an account while the provider verifies it.
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
				module := accounts.New(r.identities, r.users, accounts.Options{
					Providers:    []identity.Provider{{ProviderClient: provider, Name: "github", Label: "GitHub", Key: "github"}},
					Registration: accounts.Closed,
				}, time.Now)
				session, err := use.Sessions.Start(t.Context(), audit.By(token.Viewer{}, netip.Addr{}), "epoxy", token.Token{},
					"browser", "")
				if err != nil {
					t.Fatal(err)
				}
				viewer, err := use.SignIn.Resume(t.Context(), session.Reveal())
				if err != nil {
					t.Fatal(err)
				}
				resume := func(ctx context.Context) (token.Viewer, error) { return use.SignIn.Resume(ctx, session.Reveal()) }
				attempt, err := module.BeginSignIn.Do(t.Context(), audit.By(viewer, netip.Addr{}),
					accounts.BeginInput{Provider: "github", Link: true})
				if err != nil {
					t.Fatal(err)
				}
				callback := identity.Callback{State: attempt.State, Code: "code"}
				visitor := audit.By(token.Viewer{}, netip.Addr{})
				result, err := module.FinishSignIn.Do(t.Context(), visitor, resume, "github", attempt.Secret, callback)
				if err == nil || result.Linked {
					owner, err := r.identities.ByIdentity(t.Context(), identity.Identity{Key: "github", Subject: "666"})
					t.Errorf("got %+v; the attacker's account now signs in as %v, error %v; want no linked account", result,
						owner.Name, err)
				}
			})
		})
	}
}

// attemptBarrier is a store whose Attempt returns only when two callers have read the attempt.
type attemptBarrier struct {
	identity.Store

	readers sync.WaitGroup
}

func (b *attemptBarrier) Attempt(ctx context.Context, hash identity.Hash) (identity.Attempt, error) {
	attempt, err := b.Store.Attempt(ctx, hash)
	b.readers.Done()
	b.readers.Wait()
	return attempt, err
}

// TestRaceSignUpTwice sends the form with a new name twice at once. Both requests must get the account.
func TestRaceSignUpTwice(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		r := openRaces(t, cfg)
		store := &attemptBarrier{Store: r.identities}
		store.readers.Add(2)
		module := accounts.New(store, r.users, accounts.Options{
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
				got, _, err := module.SignUp.Do(t.Context(), audit.By(token.Viewer{}, netip.Addr{}), "secret", "newcomer")
				if err != nil || got.Name.String() != "newcomer" {
					t.Errorf("got %v, error %v, want the account", got.Name, err)
				}
			})
		}
		both.Wait()
	})
}

// beforeTags is a tracer that calls act before the tags of a list are read.
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

// TestRaceTagsOfAPasteThatBecomesPrivate makes a paste private and tags it, while a visitor reads the profile.
func TestRaceTagsOfAPasteThatBecomesPrivate(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	owner := openRaces(t, cfg)
	exec(t, owner.db, "UPDATE users SET public_profile = true, show_tags = true")
	document := newDocument("p", "epoxy", "code")
	document.Visibility, document.Tags = paste.Public, []string{"harmless"}
	createDocument(t, owner.pastes, document)
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
	profile, err := pastes.New(strangers, owner.users, pastes.Options{}, time.Now).Browse.Public(t.Context(), "Epoxy",
		paste.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if len(profile.Pastes) != 1 || b.act != nil {
		t.Fatalf("got %d pastes, or tags that were not read, want one paste with its tags", len(profile.Pastes))
	}
	for _, summary := range profile.Pastes {
		if slices.Contains(summary.Tags, "secret") {
			t.Errorf("got %q as %v with the tags %q for a visitor, want no tags of the time when it is private",
				summary.Title, summary.Visibility, summary.Tags)
		}
	}
}

// afterByName is a store that calls act after ByName.
type afterByName struct {
	user.Store

	act func()
}

func (a afterByName) ByName(ctx context.Context, name user.Name) (user.User, error) {
	defer a.act()
	return a.Store.ByName(ctx, name)
}

// TestRacePasteOfAProfileThatBecomesPrivate makes a profile private, and only then a paste public, while a visitor
// reads the profile.
func TestRacePasteOfAProfileThatBecomesPrivate(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		r := openRaces(t, cfg)
		exec(t, r.db, "UPDATE users SET public_profile = true")
		createDocument(t, r.pastes, newDocument("p", "epoxy", "code"))
		users := afterByName{r.users, func() {
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
		profile, err := pastes.New(r.pastes, users, pastes.Options{}, time.Now).Browse.Public(t.Context(), "Epoxy",
			paste.Selection{})
		if err != nil || len(profile.Pastes) > 0 {
			t.Errorf("got %d pastes, error %v, want none: the paste was not public while the profile was",
				len(profile.Pastes), err)
		}
	})
}
