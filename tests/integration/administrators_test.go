package integration

import (
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

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
