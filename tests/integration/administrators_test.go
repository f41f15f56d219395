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

// from is where requests come from.
var from = netip.MustParseAddr("192.0.2.1")

func createUser(t *testing.T, s *service, name string, admin bool) user.User {
	t.Helper()
	parsed, err := user.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	created := user.User{ID: user.ID("id" + name), Name: parsed, Admin: admin, CreatedAt: time.Now()}
	database.CreateUser(t, s.store, created)
	return created
}

// suspend suspends a user as the operator.
func suspend(t *testing.T, users *gormstore.Users, shown user.User) error {
	t.Helper()
	_, _, err := users.Update(t.Context(), netip.Addr{}, audit.Operator().Entry("user.suspend", shown.Name.String(), ""),
		shown.ID, func(u *user.User, _ map[string]string) error {
			u.Suspended = true
			return nil
		})
	return err
}

// TestOperatorBesideAdministrator suspends an administrator during an act: the operator's answer comes after the act,
// so that nothing happens by a right that has ended.
func TestOperatorBesideAdministrator(t *testing.T) {
	t.Parallel()
	r := openRaces(t, database.Postgres(t))
	users := gormstore.NewUsers(r.store)
	administrator, other := createUser(t, r.service, "administrator", true), createUser(t, r.service, "other", false)
	suspended := make(chan error, 1)
	entry := audit.By(token.Viewer{User: administrator}, netip.Addr{}).Entry("user.make-admin", "other", "")
	_, _, err := users.Update(t.Context(), netip.Addr{}, entry, other.ID,
		func(u *user.User, _ map[string]string) error {
			go func() { suspended <- suspend(t, users, administrator) }()
			waitForWaiters(t, r.db, 1)
			u.Admin = true
			return nil
		})
	if err != nil {
		t.Errorf("got %v of an act that began in time, want it done", err)
	}
	if err := <-suspended; err != nil {
		t.Errorf("got %v, want the administrator suspended after it", err)
	}
}

// TestWaitingAdministrators holds the turn of administrators, as an act on another node does, and has more of them act
// than there are connections. Only one of them takes a connection to wait, so that visitors read and create pastes.
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
	var acting sync.WaitGroup
	for i := range 2 * cfg.MaxConnections {
		acting.Go(func() {
			if err := acts[i%len(acts)](); !fault.Is(err, fault.Unavailable) {
				t.Errorf("got %v of an act that waited too long, want fault.Unavailable", err)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		acting.Wait()
		close(ended)
	}()
	running := func() bool {
		select {
		case <-ended:
			return false
		default:
			return true
		}
	}
	var visiting sync.WaitGroup
	visits := 0
	visiting.Go(func() {
		for ; running(); visits++ {
			created := newDocument(ident.New(), "", "code")
			_, err := s.pastes.CreateAllowed(t.Context(), from, paste.Allowance{}, "", created)
			if err == nil {
				_, err = s.pastes.ReadDocument(t.Context(), created.ID, "")
			}
			if err != nil {
				t.Errorf("got %v, want a paste created and read", err)
			}
		}
	})
	most := 0
	for running() {
		most = max(most, s.sessions(t, "wait_event_type = 'Lock'"))
	}
	visiting.Wait()
	t.Logf("%d visits beside at most %d connections that wait", visits, most)
	if most > 1 {
		t.Errorf("got %d connections of administrators who wait, want 1", most)
	}
}

// TestInstallationIsLockedFirst has a copy begin beside what makes an administrator: both lock the installation before
// any table, so that neither waits for the other.
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
		copying := begin(t, r.db, "1min")
		exec(t, copying, "SELECT 1 FROM installation FOR UPDATE")
		done := make(chan error, 1)
		go func() { done <- write() }()
		waitForWaiters(t, r.db, 1)
		if _, err := copying.Exec("LOCK TABLE blocks IN SHARE ROW EXCLUSIVE MODE NOWAIT"); err != nil {
			t.Errorf("%s: got %v of a copy that locks its tables, want no one to hold them", what, err)
		}
		if err := copying.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil && !fault.Is(err, fault.Unavailable) { // it may have waited too long
			t.Errorf("%s: got %v, want no error", what, err)
		}
	}
}

// TestLinkThatWaits uses a reset link that waits for its owner, while the administrator who made it is suspended: it
// opens nothing then.
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
	opened := make(chan error, 1)
	go func() {
		_, err := r.identities.UseLink(t.Context(), netip.Addr{}, auditlog.Entry{}, link.Hash,
			func(_ user.User, credentials *identity.Credentials) error {
				credentials.Password = "stolen"
				return nil
			})
		opened <- err
	}()
	waitForWaiters(t, r.db, 1)
	if err := suspend(t, users, administrator); err != nil {
		t.Fatal(err)
	}
	if err := lock.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want no link", err)
	}
	credentials, err := r.identities.CredentialsOf(t.Context(), owner.ID)
	if err != nil || credentials.Password != "" {
		t.Errorf("got %+v, %v, want no password", credentials, err)
	}
}
