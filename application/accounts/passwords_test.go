package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/fake"
	"github.com/gluepot/gluepot/tests/modules"
)

const (
	goodPassword  = "tulip river stone"
	otherPassword = "stone river tulip"
)

// withPasswords returns use cases with passwords and providers.
func withPasswords(m *modules.Modules, registration accounts.Registration) *accounts.UseCases {
	return m.AccountsWith(accounts.Options{
		Providers: m.Provider.Providers(), Registration: registration, Passwords: fake.Passwords{}, Notify: m.Notify,
	})
}

// member stores a user with a password and accounts at providers.
func member(t *testing.T, m *modules.Modules, a *accounts.UseCases, name, password string,
	services map[string]string) user.User {
	t.Helper()
	parsed, err := user.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := a.Passwords.Hash(t.Context(), parsed, password)
	if err != nil {
		t.Fatal(err)
	}
	created, err := m.Users.Create.Do(t.Context(), audit.Operator(),
		users.CreateInput{Name: name, Identities: services, Password: hash})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// signIn signs in with a password, and returns the user whose session begins.
func signIn(t *testing.T, a *accounts.UseCases, name, password string) (owner user.ID, err error) {
	t.Helper()
	err = a.Passwords.SignIn(t.Context(), modules.By(visitor), name, password,
		func(of user.ID) (func(context.Context) error, error) {
			owner = of
			return func(context.Context) error { owner = ""; return nil }, nil
		})
	return owner, err
}

func suspend(t *testing.T, m *modules.Modules, id user.ID) {
	t.Helper()
	_, _, err := m.UserStore.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, id,
		func(u *user.User, _ map[string]string) error {
			u.Suspended = true
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPasswordRules(t *testing.T) {
	t.Parallel()
	a := withPasswords(modules.New(), accounts.Open)
	epoxy, err := user.ParseName("Epoxy")
	if err != nil {
		t.Fatal(err)
	}
	short, err := user.ParseName("a")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		name     user.Name
		password string
		says     string // empty if the password is accepted
	}{
		"12 characters":                  {epoxy, "abcdefghijkl", ""},
		"11 characters":                  {epoxy, "abcdefghijk", "has 11 characters"},
		"none":                           {epoxy, "", "has 0 characters"},
		"256 characters":                 {epoxy, strings.Repeat("ü", 256), ""},
		"257 characters":                 {epoxy, strings.Repeat("ü", 257), "has 257 characters"},
		"very long":                      {epoxy, strings.Repeat("x", identity.MaxPasswordBytes+1), "much longer"},
		"not text":                       {epoxy, "abcdefghijkl\xff", "valid UTF-8"},
		"with the name":                  {epoxy, "the EPOXY of mine", "contains the username"},
		"with the name in full width":    {epoxy, "the \uff45poxy of mine", "contains the username"},
		"with a name of a single letter": {short, "abcdefghijkl", ""},
		"weak":                           {epoxy, "weak but long enough", "too easy to guess"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hash, err := a.Passwords.Hash(t.Context(), c.name, c.password)
			switch {
			case c.says == "" && (err != nil || hash == ""):
				t.Errorf("got %v, want it accepted", err)
			case c.says != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(fault.MessageOf(err), c.says)):
				t.Errorf("got %v, want a refusal that says: %s", err, c.says)
			case c.says != "" && len(c.password) > 0 && strings.Contains(err.Error(), c.password):
				t.Errorf("got the password in %v, want it nowhere", err)
			}
		})
	}
}

func TestSignInWithPassword(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasswords(m, accounts.Closed)
	epoxy := member(t, m, a, "Epoxy", goodPassword, nil)
	suspended := member(t, m, a, "suspended", goodPassword, nil)
	suspend(t, m, suspended.ID)
	m.CreateUser(t, users.CreateInput{Name: "without", Identities: map[string]string{"github": "1"}})
	for what, c := range map[string]struct {
		name, password string
		want           error
	}{
		"right":                       {"epoxy", goodPassword, nil},
		"right, in capitals":          {"EPOXY", goodPassword, nil},
		"wrong":                       {"epoxy", otherPassword, identity.ErrWrongPassword},
		"empty":                       {"epoxy", "", identity.ErrWrongPassword},
		"too long":                    {"epoxy", strings.Repeat("x", 10_000), identity.ErrWrongPassword},
		"an unknown name":             {"nobody", goodPassword, identity.ErrWrongPassword},
		"no name":                     {"", goodPassword, identity.ErrWrongPassword},
		"an impossible name":          {"a b\x00", goodPassword, identity.ErrWrongPassword},
		"a user without a password":   {"without", "", identity.ErrWrongPassword},
		"a suspended user, right":     {"suspended", goodPassword, token.ErrSuspended},
		"a suspended user, wrong":     {"suspended", otherPassword, identity.ErrWrongPassword},
		"the stored hash as password": {"epoxy", "fake:" + goodPassword, identity.ErrWrongPassword},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			owner, err := signIn(t, a, c.name, c.password)
			if !errors.Is(err, c.want) || c.want == nil && (err != nil || owner != epoxy.ID) || c.want != nil && owner != "" {
				t.Errorf("got %q, error %v, want %v", owner, err, c.want)
			}
		})
	}
	_, err := signIn(t, withRegistration(m, accounts.Open), "epoxy", goodPassword)
	if !errors.Is(err, identity.ErrNoPasswords) {
		t.Errorf("got %v where passwords are off, want %v", err, identity.ErrNoPasswords)
	}
}

// wantDeadline checks that what is undone after a request does not wait for ever.
func wantDeadline(ctx context.Context, t *testing.T) {
	t.Helper()
	if _, ok := ctx.Deadline(); !ok {
		t.Error("got a context without a deadline, want one")
	}
}

// TestPasswordChangesDuringSignIn changes the password between its check and the session.
func TestPasswordChangesDuringSignIn(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a, store := withPasswords(m, accounts.Closed), fake.Identities{Store: m.UserStore.Store}
	epoxy := member(t, m, a, "epoxy", goodPassword, nil)
	for what, c := range map[string]struct {
		hash identity.PasswordHash
		want error
	}{
		"another password":                   {"fake:" + otherPassword, identity.ErrWrongPassword},
		"none":                               {"", identity.ErrWrongPassword},
		"another hash of the same":           {"old:" + goodPassword, nil},
		"an outdated hash, which is renewed": {"fake:" + goodPassword, nil},
	} {
		ended := false
		err := a.Passwords.SignIn(t.Context(), modules.By(visitor), "epoxy", goodPassword,
			func(user.ID) (func(context.Context) error, error) {
				end := func(ctx context.Context) error {
					wantDeadline(ctx, t)
					ended = true
					return nil
				}
				return end, store.ChangeCredentials(t.Context(), netip.Addr{}, epoxy.ID, "",
					func(_ user.User, credentials *identity.Credentials) error {
						credentials.Password = c.hash
						return nil
					})
			})
		if !errors.Is(err, c.want) || c.want == nil && err != nil || ended != (c.want != nil) {
			t.Errorf("%s: got %v, session ended: %v, want %v", what, err, ended, c.want)
		}
		err = store.ChangeCredentials(t.Context(), netip.Addr{}, epoxy.ID, "",
			func(_ user.User, credentials *identity.Credentials) error {
				credentials.Password = "old:" + goodPassword
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := signIn(t, a, "epoxy", goodPassword); err != nil {
		t.Fatal(err)
	}
	if credentials, err := store.CredentialsOf(t.Context(), epoxy.ID); err != nil ||
		credentials.Password != "fake:"+goodPassword {
		t.Errorf("got %v, error %v, want a new hash of the password", credentials, err)
	}
}

// TestGuesses checks the limit on wrong passwords for one name, known or not. Other ways to sign in have no such limit.
func TestGuesses(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasswords(m, accounts.Closed)
	epoxy := member(t, m, a, "epoxy", goodPassword, map[string]string{"github": "77"})
	member(t, m, a, "other", goodPassword, nil)
	for range 2 * identity.Guesses { // right passwords do not count
		if _, err := signIn(t, a, "epoxy", goodPassword); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"epoxy", "nobody"} {
		for i := range identity.Guesses {
			if _, err := signIn(t, a, strings.ToUpper(name[:1+i%3])+name[1+i%3:], otherPassword); !errors.Is(err,
				identity.ErrWrongPassword) {
				t.Fatalf("%s, guess %d: got %v, want %v", name, i, err, identity.ErrWrongPassword)
			}
		}
		for _, password := range []string{otherPassword, goodPassword} {
			if owner, err := signIn(t, a, name, password); !errors.Is(err, identity.ErrTooManyGuesses) || owner != "" {
				t.Errorf("%s: got %v, want %v", name, err, identity.ErrTooManyGuesses)
			}
		}
	}
	if _, err := signIn(t, a, "other", goodPassword); err != nil {
		t.Errorf("another user: got %v, want no error", err)
	}
	result, err := visitProvider(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github"}, vouch(m, "77", ""))
	if err != nil || result.User.ID != epoxy.ID {
		t.Errorf("got %+v, error %v, want to sign in with the provider", result, err)
	}
	err = a.Passwords.SetOwn(t.Context(), modules.By(m.Session(t, "epoxy")), goodPassword, otherPassword)
	if !errors.Is(err, identity.ErrTooManyGuesses) {
		t.Errorf("got %v with the present password, want %v", err, identity.ErrTooManyGuesses)
	}
	m.Now = m.Now.Add(identity.GuessWindow / identity.Guesses)
	if _, err := signIn(t, a, "epoxy", goodPassword); err != nil {
		t.Errorf("got %v later, want to sign in", err)
	}
}

func TestOwnPassword(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasswords(m, accounts.Closed)
	member(t, m, a, "epoxy", goodPassword, nil)
	suspended := member(t, m, a, "suspended", goodPassword, nil)
	fresh := m.Session(t, "epoxy")
	old, reader, byToken, deleted, late := fresh, fresh, fresh, fresh, m.Session(t, "suspended")
	old.Token.CreatedAt = m.Now.Add(-token.RecentSession)
	reader.Token.Scope = token.Read
	byToken.Token.Kind = token.Access
	deleted.User.ID = "gone"
	suspend(t, m, suspended.ID)
	for what, c := range map[string]struct {
		viewer            token.Viewer
		present, password string
		want              error
		kind              fault.Kind
	}{
		"a visitor":                       {token.Viewer{}, goodPassword, otherPassword, token.ErrRejected, ""},
		"a session that may only read":    {reader, "", otherPassword, nil, fault.Forbidden},
		"an old session":                  {old, "", otherPassword, token.ErrRejected, ""},
		"an old session, and a wrong one": {old, otherPassword, otherPassword, identity.ErrCurrentPassword, ""},
		"an access token":                 {byToken, "", otherPassword, token.ErrRejected, ""},
		"a weak password":                 {fresh, "", "weak but long enough", nil, fault.Invalid},
		"a wrong present password":        {fresh, otherPassword, otherPassword, identity.ErrCurrentPassword, ""},
		"a deleted user":                  {deleted, "", otherPassword, token.ErrRejected, ""},
		"a user who was suspended":        {late, "", otherPassword, token.ErrSuspended, ""},
	} {
		t.Run(what, func(t *testing.T) {
			err := a.Passwords.SetOwn(t.Context(), modules.By(c.viewer), c.present, c.password)
			if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !fault.Is(err, c.kind) {
				t.Errorf("got %v, want %v%s", err, c.want, c.kind)
			}
			if c.kind != fault.Invalid {
				removeErr := a.Passwords.RemoveOwn(t.Context(), modules.By(c.viewer), c.present)
				if fmt.Sprint(removeErr) != fmt.Sprint(err) {
					t.Errorf("removing: got %v, want %v", removeErr, err)
				}
			}
		})
	}
	if err := a.Passwords.SetOwn(t.Context(), modules.By(old), goodPassword, otherPassword); err != nil {
		t.Errorf("got %v with an old session and the password, want it changed", err)
	}
	if _, err := signIn(t, a, "epoxy", otherPassword); err != nil {
		t.Errorf("got %v, want to sign in with the new password", err)
	}
	if _, err := signIn(t, a, "epoxy", goodPassword); !errors.Is(err, identity.ErrWrongPassword) {
		t.Errorf("got %v with the old password, want %v", err, identity.ErrWrongPassword)
	}
}

// TestLastWayIn checks that users cannot remove their last way to sign in. Tokens, and accounts at providers that are
// off, do not count.
func TestLastWayIn(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a, without := withPasswords(m, accounts.Closed), withRegistration(m, accounts.Closed)
	member(t, m, a, "epoxy", goodPassword, map[string]string{"github": "1", "bitbucket": "2"})
	m.IssueToken(t, "epoxy")
	viewer := m.Session(t, "epoxy")
	modules.WantKind(t, "where passwords are off", without.Link.UndoOwn(t.Context(), modules.By(viewer), "github"),
		fault.Conflict)
	if err := a.Link.UndoOwn(t.Context(), modules.By(viewer), "github"); err != nil {
		t.Errorf("got %v, want the account unlinked beside a password", err)
	}
	modules.WantKind(t, "the password", a.Passwords.RemoveOwn(t.Context(), modules.By(viewer), ""), fault.Conflict)
	if err := a.Link.Do(t.Context(), audit.Operator(), "epoxy", "github:1"); err != nil {
		t.Fatal(err)
	}
	if err := a.Passwords.RemoveOwn(t.Context(), modules.By(viewer), ""); err != nil {
		t.Errorf("got %v, want the password removed beside an account", err)
	}
	modules.WantKind(t, "the account", a.Link.UndoOwn(t.Context(), modules.By(viewer), "github"), fault.Conflict)
	if credentials, err := a.Credentials.Own(t.Context(), viewer); err != nil || credentials.Password != "" ||
		credentials.Identities["github"] != "1" {
		t.Errorf("got %v, error %v, want the account alone", credentials, err)
	}
	_, err := a.Credentials.Own(t.Context(), token.Viewer{})
	modules.WantKind(t, "a visitor", err, fault.Unauthenticated)
}

func TestJoin(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "taken"})
	open, invited, closed := withPasswords(m, accounts.Open), withPasswords(m, accounts.Invite),
		withPasswords(m, accounts.Closed)
	invitation, code, err := open.Invite.Do(t.Context(), audit.Operator(), 1, time.Hour, "")
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		a                    *accounts.UseCases
		code, name, password string
		kind                 fault.Kind
	}{
		"a taken name":              {open, "", "TAKEN", goodPassword, fault.Conflict},
		"a reserved name":           {open, "", "admin", goodPassword, fault.Invalid},
		"no name":                   {open, "", "", goodPassword, fault.Invalid},
		"a weak password":           {open, "", "ann", "weak but long enough", fault.Invalid},
		"the name as password":      {open, "", "annabel", "annabel annabel", fault.Invalid},
		"closed":                    {closed, code, "ann", goodPassword, fault.Forbidden},
		"without an invitation":     {invited, "", "ann", goodPassword, fault.Forbidden},
		"with an unknown one":       {invited, "made up", "ann", goodPassword, fault.Forbidden},
		"where passwords are off":   {withRegistration(m, accounts.Open), "", "ann", goodPassword, fault.Invalid},
		"open, with an unknown one": {open, "made up", "ann", goodPassword, fault.Forbidden},
	} {
		t.Run(what, func(t *testing.T) {
			created, err := c.a.Register.Do(t.Context(), modules.By(visitor), c.code, c.name, c.password)
			modules.WantKind(t, what, err, c.kind)
			if created.ID != "" && err == nil {
				t.Errorf("got %+v, want no user", created)
			}
		})
	}
	ann, err := invited.Register.Do(t.Context(), modules.By(visitor), code, "ann", goodPassword)
	if err != nil || ann.Admin || ann.PublicProfile || ann.DefaultLanguage != user.DefaultLanguage {
		t.Fatalf("got %+v, error %v, want a user without rights", ann, err)
	}
	if owner, err := signIn(t, closed, "ann", goodPassword); err != nil || owner != ann.ID {
		t.Errorf("got %q, error %v, want to sign in", owner, err)
	}
	_, err = invited.Register.Do(t.Context(), modules.By(visitor), code, "bob", goodPassword)
	if !errors.Is(err, identity.ErrInvitation) {
		t.Errorf("got %v, want %v", err, identity.ErrInvitation)
	}
	invitations, err := open.Invite.All(t.Context(), audit.Operator())
	if err != nil || len(invitations) != 1 || invitations[0].ID != invitation.ID || invitations[0].Uses != 0 {
		t.Errorf("got %v, error %v, want one use taken", invitations, err)
	}
	if _, err := open.Register.Do(t.Context(), modules.By(visitor), "", "bob", goodPassword); err != nil {
		t.Errorf("got %v, want a user without an invitation", err)
	}
}

func TestSetUp(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasswords(m, accounts.Closed)
	first, err := a.SetUp.Begin(t.Context(), audit.Operator())
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.SetUp.Begin(t.Context(), audit.Operator())
	if err != nil || first == second {
		t.Fatalf("got the code %s twice, error %v, want a new one", second, err)
	}
	m.CreateUser(t, users.CreateInput{Name: "member"})
	for range 2 {
		if err := a.SetUp.Show(t.Context(), first); err != nil {
			t.Errorf("got %v, want a valid link that is not used by looking at it", err)
		}
	}
	_, _, reset, err := a.Reset.Offer(t.Context(), audit.Operator(), "member")
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		code, name, password string
		kind                 fault.Kind
	}{
		"no code":             {"", "root", goodPassword, fault.Forbidden},
		"a made up code":      {"made up", "root", goodPassword, fault.Forbidden},
		"the code of a reset": {reset, "root", goodPassword, fault.Forbidden},
		"a weak password":     {first, "root", "weak but long enough", fault.Invalid},
		"a wrong name":        {first, "a b", goodPassword, fault.Invalid},
		"a taken name":        {first, "member", goodPassword, fault.Conflict},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := a.SetUp.Do(t.Context(), modules.By(visitor), c.code, c.name, c.password)
			modules.WantKind(t, what, err, c.kind)
		})
	}
	if len(m.Notices) != 0 {
		t.Errorf("got the notices %v, want none yet", m.Notices)
	}
	root, err := a.SetUp.Do(t.Context(), modules.By(visitor), first, "root", goodPassword)
	if err != nil || !root.Admin {
		t.Fatalf("got %+v, error %v, want an administrator", root, err)
	}
	if len(m.Notices) != 1 || m.Notices[0].Event != notice.NewAdministrator {
		t.Errorf("got the notices %v, want one of an administrator", m.Notices)
	}
	for _, code := range []string{first, second} {
		modules.WantKind(t, "a second time", a.SetUp.Show(t.Context(), code), fault.Forbidden)
		_, err := a.SetUp.Do(t.Context(), modules.By(visitor), code, "mallory", goodPassword)
		modules.WantKind(t, "a second time", err, fault.Forbidden)
	}
	if _, err := a.SetUp.Begin(t.Context(), audit.Operator()); !errors.Is(err, identity.ErrAdministratorExists) {
		t.Errorf("got %v, want %v", err, identity.ErrAdministratorExists)
	}
	_, err = withRegistration(m, accounts.Closed).SetUp.Begin(t.Context(), audit.Operator())
	if !errors.Is(err, identity.ErrNoPasswords) {
		t.Errorf("got %v where passwords are off, want %v", err, identity.ErrNoPasswords)
	}
}

// TestSetupLinkExpires checks that the link expires after a day.
func TestSetupLinkExpires(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasswords(m, accounts.Closed)
	code, err := a.SetUp.Begin(t.Context(), audit.Operator())
	if err != nil {
		t.Fatal(err)
	}
	m.Now = m.Now.Add(identity.SetupAge)
	_, err = a.SetUp.Do(t.Context(), modules.By(visitor), code, "root", goodPassword)
	modules.WantKind(t, "a day later", err, fault.Forbidden)
}

func TestReset(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasswords(m, accounts.Closed)
	m.CreateUser(t, users.CreateInput{Name: "imported", Identities: map[string]string{"github": "1"}})
	offer := func() string {
		t.Helper()
		owner, link, code, err := a.Reset.Offer(t.Context(), audit.Operator(), "imported")
		if err != nil || link.Owner != owner.ID || link.ExpiresAt != m.Now.Add(time.Hour) {
			t.Fatalf("got %+v, error %v, want a link for an hour", link, err)
		}
		return code
	}
	_, _, _, err := a.Reset.Offer(t.Context(), audit.Operator(), "nobody")
	modules.WantKind(t, "an unknown user", err, fault.NotFound)
	first, second := offer(), offer()
	for range 2 {
		if owner, err := a.Reset.Show(t.Context(), first); err != nil || owner.Name.String() != "imported" {
			t.Errorf("got %v, error %v, want the owner of the link", owner, err)
		}
	}
	_, err = a.Reset.Do(t.Context(), modules.By(visitor), first, "weak but long enough")
	modules.WantKind(t, "a weak password", err, fault.Invalid)
	if owner, err := a.Reset.Do(t.Context(), modules.By(visitor), first, goodPassword); err != nil ||
		owner.Name.String() != "imported" {
		t.Fatalf("got %v, error %v, want the user", owner, err)
	}
	if _, err := signIn(t, a, "imported", goodPassword); err != nil {
		t.Errorf("got %v, want to sign in", err)
	}
	late := offer()
	m.Now = m.Now.Add(time.Hour)
	setup, err := a.SetUp.Begin(t.Context(), audit.Operator())
	if err != nil {
		t.Fatal(err)
	}
	for what, code := range map[string]string{
		"used": first, "another of the same user": second, "an hour later": late, "made up": "made up", "none": "",
		"of a setup": setup,
	} {
		_, err := a.Reset.Show(t.Context(), code)
		modules.WantKind(t, what, err, fault.Forbidden)
		_, err = a.Reset.Do(t.Context(), modules.By(visitor), code, otherPassword)
		modules.WantKind(t, what, err, fault.Forbidden)
	}
	code := offer()
	name, err := user.ParseName("imported")
	if err != nil {
		t.Fatal(err)
	}
	imported, err := m.UserStore.ByName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	suspend(t, m, imported.ID)
	if _, err := a.Reset.Show(t.Context(), code); !errors.Is(err, token.ErrSuspended) {
		t.Errorf("got %v, want %v", err, token.ErrSuspended)
	}
	if _, err := a.Reset.Do(t.Context(), modules.By(visitor), code, otherPassword); !errors.Is(err, token.ErrSuspended) {
		t.Errorf("got %v, want %v", err, token.ErrSuspended)
	}
}

// TestActorsOfPasswords checks that neither the zero actor nor the operator can act as a visitor, and that only the
// operator and administrators can offer a reset.
func TestActorsOfPasswords(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasswords(m, accounts.Open)
	member(t, m, a, "epoxy", goodPassword, nil)
	setup, err := a.SetUp.Begin(t.Context(), audit.Operator())
	if err != nil {
		t.Fatal(err)
	}
	_, _, reset, err := a.Reset.Offer(t.Context(), audit.Operator(), "epoxy")
	if err != nil {
		t.Fatal(err)
	}
	for who, actor := range map[string]audit.Actor{"the zero actor": {}, "the operator": audit.Operator()} {
		start := func(user.ID) (func(context.Context) error, error) { return nil, errors.New("a session began") }
		modules.WantKind(t, who, a.Passwords.SignIn(t.Context(), actor, "epoxy", goodPassword, start), fault.Forbidden)
		modules.WantKind(t, who, a.Passwords.SetOwn(t.Context(), actor, goodPassword, otherPassword), fault.Forbidden)
		modules.WantKind(t, who, a.Passwords.RemoveOwn(t.Context(), actor, goodPassword), fault.Forbidden)
		_, err := a.Register.Do(t.Context(), actor, "", "ann", goodPassword)
		modules.WantKind(t, who, err, fault.Forbidden)
		_, err = a.SetUp.Do(t.Context(), actor, setup, "root", goodPassword)
		modules.WantKind(t, who, err, fault.Forbidden)
		_, err = a.Reset.Do(t.Context(), actor, reset, otherPassword)
		modules.WantKind(t, who, err, fault.Forbidden)
	}
	administrator := m.Session(t, "epoxy")
	reader := administrator
	administrator.User.Admin, reader.User.Admin, reader.Token.Scope = true, true, token.Read
	for who, c := range map[string]struct {
		actor audit.Actor
		kind  fault.Kind
	}{
		"the zero actor": {audit.Actor{}, fault.Forbidden},
		"a visitor":      {modules.By(visitor), fault.Unauthenticated},
		"a user":         {modules.By(m.Session(t, "epoxy")), fault.Forbidden},
		"an administrator whose token may only read": {modules.By(reader), fault.Forbidden},
		"an administrator":                           {modules.By(administrator), ""},
	} {
		_, _, code, err := a.Reset.Offer(t.Context(), c.actor, "epoxy")
		if fault.KindOf(err) != c.kind || (code != "") != (err == nil) {
			t.Errorf("%s: got %v, want %q", who, err, c.kind)
		}
	}
}

// busyPasswords is too busy to compare. With full, nobody may even wait.
type busyPasswords struct {
	fake.Passwords

	full bool
}

var errBusy = fault.New(fault.Unavailable, "busy")

// Enter implements identity.Passwords.
func (b busyPasswords) Enter() (leave func(), err error) {
	if b.full {
		return nil, errBusy
	}
	return b.Passwords.Enter()
}

// Matches implements identity.Passwords.
func (busyPasswords) Matches(context.Context, string, identity.PasswordHash) (matches, outdated bool, err error) {
	return false, false, errBusy
}

// uncalledStore fails the test if a guess is counted.
type uncalledStore struct {
	identity.Store

	t *testing.T
}

// TakeGuess implements identity.Store.
func (s uncalledStore) TakeGuess(context.Context, netip.Addr, string) error {
	s.t.Error("got a guess counted without a place in the queue, want none")
	return errBusy
}

// undoStore wants a deadline for returning a guess.
type undoStore struct {
	fake.Identities

	t *testing.T
}

// ReturnGuess implements identity.Store.
func (u undoStore) ReturnGuess(ctx context.Context, name string) error {
	wantDeadline(ctx, u.t)
	return u.Identities.ReturnGuess(ctx, name)
}

// TestBusyPasswords checks that a password that was not compared does not count as a guess.
func TestBusyPasswords(t *testing.T) {
	t.Parallel()
	m := modules.New()
	member(t, m, withPasswords(m, accounts.Closed), "epoxy", goodPassword, nil)
	busy := accounts.New(undoStore{fake.Identities{Store: m.UserStore.Store}, t}, m.UserStore,
		accounts.Options{Passwords: busyPasswords{}}, m.Clock)
	full := accounts.New(uncalledStore{t: t}, m.UserStore, accounts.Options{Passwords: busyPasswords{full: true}}, m.Clock)
	_, err := signIn(t, full, "epoxy", goodPassword)
	modules.WantKind(t, "without a place", err, fault.Unavailable)
	for range 2 * identity.Guesses {
		_, err := signIn(t, busy, "epoxy", goodPassword)
		modules.WantKind(t, "while others are compared", err, fault.Unavailable)
	}
	if _, err := signIn(t, withPasswords(m, accounts.Closed), "epoxy", goodPassword); err != nil {
		t.Errorf("got %v afterwards, want to sign in", err)
	}
}

// countedPasswords records its calls.
type countedPasswords struct {
	fake.Passwords

	calls *[]string
}

// Matches implements identity.Passwords.
func (c countedPasswords) Matches(
	ctx context.Context, password string, hash identity.PasswordHash,
) (matches, outdated bool, err error) {
	*c.calls = append(*c.calls, "matches")
	return c.Passwords.Matches(ctx, password, hash)
}

// Hash implements identity.Passwords.
func (c countedPasswords) Hash(ctx context.Context, password string) (identity.PasswordHash, error) {
	*c.calls = append(*c.calls, "hash")
	return c.Passwords.Hash(ctx, password)
}

// TestSameWork checks that every wrong password takes one comparison, so that the time does not tell who has an
// account.
func TestSameWork(t *testing.T) {
	t.Parallel()
	m := modules.New()
	members := withPasswords(m, accounts.Closed)
	member(t, m, members, "epoxy", goodPassword, nil)
	suspend(t, m, member(t, m, members, "suspended", goodPassword, nil).ID)
	m.CreateUser(t, users.CreateInput{Name: "without"})
	for _, name := range []string{"epoxy", "suspended", "without", "nobody", "", "a b", strings.Repeat("x", 1000)} {
		for _, password := range []string{otherPassword, "", "x"} {
			t.Run(fmt.Sprintf("%.9s %s", name, password), func(t *testing.T) {
				t.Parallel()
				var calls []string
				a := accounts.New(fake.Identities{Store: m.UserStore.Store}, m.UserStore, accounts.Options{
					Passwords: countedPasswords{calls: &calls},
				}, m.Clock)
				if _, err := signIn(t, a, name, password); !errors.Is(err, identity.ErrWrongPassword) {
					t.Errorf("got %v, want %v", err, identity.ErrWrongPassword)
				}
				if len(calls) != 1 || calls[0] != "matches" {
					t.Errorf("got %v, want one comparison", calls)
				}
			})
		}
	}
}
