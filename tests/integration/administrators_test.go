package integration

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// from is the clients' address.
var from = netip.MustParseAddr("192.0.2.1")

func createUser(t *testing.T, s *service, name string, admin bool) user.User {
	t.Helper()
	username, err := user.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	created := user.User{ID: user.ID("id" + name), Name: username, Admin: admin, CreatedAt: time.Now()}
	database.CreateUser(t, s.store, created)
	return created
}

// suspend suspends a user as the operator.
func suspend(t *testing.T, users *gormstore.Users, u user.User) error {
	t.Helper()
	_, _, err := users.Update(t.Context(), netip.Addr{}, audit.Operator().Entry("user.suspend", u.Name.String(), ""),
		u.ID, func(u *user.User, _ map[string]string) error {
			u.Suspended = true
			return nil
		})
	return err
}

// TestOperatorBesideAdministrator suspends an administrator during an act. The suspension waits for the act, so that
// nothing happens after the right to it has ended.
func TestOperatorBesideAdministrator(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	users := gormstore.NewUsers(r.store)
	administrator, other := createUser(t, r.service, "administrator", true), createUser(t, r.service, "other", false)
	suspension := make(chan error, 1)
	entry := audit.By(token.Viewer{User: administrator}, netip.Addr{}).Entry("user.make-admin", "other", "")
	_, _, err := users.Update(t.Context(), netip.Addr{}, entry, other.ID,
		func(u *user.User, _ map[string]string) error {
			go func() { suspension <- suspend(t, users, administrator) }()
			waitForWaiters(t, r.db, 1)
			u.Admin = true
			return nil
		})
	if err != nil {
		t.Errorf("got %v for an act that began before the suspension, want no error", err)
	}
	if err := <-suspension; err != nil {
		t.Errorf("got %v, want no error for the suspension after it", err)
	}
}

// TestWaitingAdministrators holds the lock of administrators' acts, as an act on another node does, and starts more
// acts than there are connections. Only one of them may take a connection to wait, so that visitors can read and create
// pastes.
func TestWaitingAdministrators(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.MaxConnections = 8
	s := openService(t, cfg)
	administrator := audit.By(token.Viewer{User: createUser(t, s, "administrator", true)}, netip.Addr{})
	acts := []func() error{
		func() error {
			entry := administrator.Entry("paste.remove", "absent00", "spam")
			return gormstore.NewModeration(s.store).Remove(t.Context(), entry, "absent00", "spam")
		},
		func() error {
			entry := administrator.Entry("user.update", "epoxy", "")
			_, _, err := s.users.Update(t.Context(), netip.Addr{}, entry, "epoxy",
				func(*user.User, map[string]string) error { return nil })
			return err
		},
	}
	lock := begin(t, s.db, "1min")
	exec(t, lock, "SELECT 1 FROM installation FOR UPDATE")
	var callers sync.WaitGroup
	for i := range 2 * cfg.MaxConnections {
		callers.Go(func() {
			if err := acts[i%len(acts)](); !fault.Is(err, fault.Unavailable) {
				t.Errorf("got %v for an act that waited too long, want fault.Unavailable", err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		callers.Wait()
		close(done)
	}()
	running := func() bool {
		select {
		case <-done:
			return false
		default:
			return true
		}
	}
	var visitor sync.WaitGroup
	visits := 0
	visitor.Go(func() {
		for ; running(); visits++ {
			created := newDocument(ident.New(), "", "code")
			_, err := s.pastes.CreateAllowed(t.Context(), from, paste.Allowance{}, "", created)
			if err == nil {
				_, err = s.pastes.ReadDocument(t.Context(), created.ID, "")
			}
			if err != nil {
				t.Errorf("got %v, want no error", err)
			}
		}
	})
	waiting := 0
	for running() {
		waiting = max(waiting, s.sessions(t, "wait_event_type = 'Lock'"))
	}
	visitor.Wait()
	t.Logf("%d visits beside at most %d waiting connections", visits, waiting)
	if waiting > 1 {
		t.Errorf("got %d waiting connections, want 1", waiting)
	}
}

// TestInstallationIsLockedFirst checks that making an administrator locks the installation before any table, as a copy
// does, so that they cannot deadlock.
func TestInstallationIsLockedFirst(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	administrator := audit.By(token.Viewer{User: createUser(t, r.service, "administrator", true)}, from)
	other := createUser(t, r.service, "other", false)
	second := user.User{ID: "second", Name: parseName(t, "second"), Admin: true, CreatedAt: time.Now()}
	for what, write := range map[string]func() error{
		"enroll": func() error {
			return r.identities.Enroll(t.Context(), from, auditlog.Entry{}, second, identity.Credentials{}, identity.Admission{})
		},
		"update": func() error {
			_, _, err := r.users.Update(t.Context(), from, administrator.Entry("user.make-admin", "other", ""), other.ID,
				func(u *user.User, _ map[string]string) error {
					u.Admin = true
					return nil
				})
			return err
		},
	} {
		copyTx := begin(t, r.db, "1min")
		exec(t, copyTx, "SELECT 1 FROM installation FOR UPDATE")
		done := make(chan error, 1)
		go func() { done <- write() }()
		waitForWaiters(t, r.db, 1)
		if _, err := copyTx.Exec("LOCK TABLE blocks IN SHARE ROW EXCLUSIVE MODE NOWAIT"); err != nil {
			t.Errorf("%s: got %v for a copy that locks a table, want no error", what, err)
		}
		if err := copyTx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil && !fault.Is(err, fault.Unavailable) { // it may have waited too long
			t.Errorf("%s: got %v, want no error", what, err)
		}
	}
}

// TestLinkThatWaits uses a reset link that waits for a lock on its owner, while the administrator who created it is
// suspended. The link must then do nothing.
func TestLinkThatWaits(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	users := gormstore.NewUsers(r.store)
	administrator, owner := createUser(t, r.service, "administrator", true), createUser(t, r.service, "owner", false)
	link := identity.OneTimeLink{Hash: identity.HashOf("code"), Owner: owner.ID, ExpiresAt: time.Now().Add(time.Hour)}
	entry := audit.By(token.Viewer{User: administrator}, netip.Addr{}).Entry("user.reset", "owner", "")
	if err := r.identities.StoreLink(t.Context(), entry, link); err != nil {
		t.Fatal(err)
	}
	lock := begin(t, r.db, "1min")
	exec(t, lock, "SELECT 1 FROM users WHERE id = 'idowner' FOR UPDATE")
	result := make(chan error, 1)
	go func() {
		_, err := r.identities.UseLink(t.Context(), netip.Addr{}, auditlog.Entry{}, link.Hash,
			func(_ user.User, credentials *identity.Credentials) error {
				credentials.Password = "stolen"
				return nil
			})
		result <- err
	}()
	waitForWaiters(t, r.db, 1)
	if err := suspend(t, users, administrator); err != nil {
		t.Fatal(err)
	}
	if err := lock.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound", err)
	}
	credentials, err := r.identities.CredentialsOf(t.Context(), owner.ID)
	if err != nil || credentials.Password != "" {
		t.Errorf("got %+v, %v, want no password", credentials, err)
	}
}
