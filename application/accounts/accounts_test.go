package accounts_test

import (
	"context"
	"errors"
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
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/modules"
)

// visitor is a viewer who has not signed in.
var visitor token.Viewer

// withRegistration returns use cases with providers and without passwords.
func withRegistration(m *modules.Modules, registration accounts.Registration) *accounts.UseCases {
	return m.AccountsWith(accounts.Options{Providers: m.Provider.Providers(), Registration: registration})
}

// vouch makes the provider vouch for an account, and returns the code for it.
func vouch(m *modules.Modules, subject, name string) string {
	m.Provider.Answers[subject] = identity.Profile{
		Identity: identity.Identity{Subject: subject}, Name: name, AvatarURL: "https://id.example/" + subject,
	}
	return subject
}

func resumeAs(viewer token.Viewer) func(context.Context) (token.Viewer, error) {
	return func(context.Context) (token.Viewer, error) { return viewer, nil }
}

// visitProvider sends a viewer to a provider and back with a code.
func visitProvider(t *testing.T, a *accounts.UseCases, viewer token.Viewer, input accounts.BeginInput,
	code string) (accounts.SignInResult, error) {
	t.Helper()
	redirect, err := a.BeginSignIn.Do(t.Context(), modules.By(viewer), input)
	if err != nil {
		return accounts.SignInResult{}, err
	}
	return a.FinishSignIn.Do(
		t.Context(),
		modules.By(token.Viewer{}),
		resumeAs(viewer),
		input.Provider,
		redirect.Secret,
		identity.Callback{State: redirect.State, Code: code},
	)
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "taken"})
	want := accounts.BeginInput{Provider: "oidc", Next: "/a"}
	result, err := visitProvider(t, m.Accounts, token.Viewer{}, want, vouch(m, "1", "Ann Example"))
	if err != nil || result.Secret == "" || result.User.ID != "" {
		t.Fatalf("got %+v, error %v, want to choose a name", result, err)
	}
	second, err := visitProvider(t, m.Accounts, token.Viewer{}, want, "1")
	if err != nil {
		t.Fatal(err)
	}
	newcomer, err := m.Accounts.ShowSignUp.Do(t.Context(), result.Secret)
	if err != nil || newcomer != (accounts.Newcomer{Provider: "Example", Name: "Ann-Example"}) {
		t.Errorf("got %+v, error %v, want the name Ann-Example proposed", newcomer, err)
	}
	for name, kind := range map[string]fault.Kind{
		"": fault.Invalid, "a b": fault.Invalid, "self": fault.Invalid, "Admin": fault.Invalid, "TAKEN": fault.Conflict,
	} {
		_, _, err := m.Accounts.SignUp.Do(t.Context(), modules.By(token.Viewer{}), result.Secret, name)
		modules.WantKind(t, name, err, kind)
	}
	created, next, err := m.Accounts.SignUp.Do(t.Context(), modules.By(token.Viewer{}), result.Secret, "ann")
	if err != nil || next != "/a" || created.Name.String() != "ann" || created.AvatarURL != "https://id.example/1" ||
		created.PublicProfile {
		t.Fatalf("got %+v, %s, error %v, want the account, private", created, next, err)
	}
	_, _, err = m.Accounts.SignUp.Do(t.Context(), modules.By(token.Viewer{}), result.Secret, "again")
	modules.WantKind(t, "a second time", err, fault.Invalid)
	same, _, err := m.Accounts.SignUp.Do(t.Context(), modules.By(token.Viewer{}), second.Secret, "another")
	if err != nil || same.ID != created.ID {
		t.Errorf("got %+v, error %v, want the same account for the same person", same, err)
	}
	if again, err := visitProvider(t, m.Accounts, token.Viewer{}, want, "1"); err != nil || again.User.ID != created.ID ||
		again.Next != "/a" {
		t.Errorf("got %+v, error %v, want the account", again, err)
	}
	// The same subject at another provider is another account.
	other, err := visitProvider(t, m.Accounts, token.Viewer{}, accounts.BeginInput{Provider: "github"}, "1")
	if err != nil || other.Secret == "" {
		t.Errorf("got %+v, error %v, want another account", other, err)
	}
}

func TestProposedNames(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "taken"})
	m.CreateUser(t, users.CreateInput{Name: "former"})
	profile := users.Profile{Name: "renamed", DefaultLanguage: "Go"}
	if err := m.Users.Update.Own(t.Context(), audit.By(m.Session(t, "former"), netip.Addr{}), profile); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ann": "ann", "Taken": "", "former": "", "": "", "self": "", "Moderator": "",
		"Änn": "nn", "\u0430nn": "nn", "-a-": "a", "a\x00b": "ab", "\xff": "",
		"<script>":               "script",
		strings.Repeat("x", 500): strings.Repeat("x", 64),
	} {
		result, err := visitProvider(t, m.Accounts, visitor, accounts.BeginInput{Provider: "oidc"}, vouch(m, "1", name))
		if err != nil {
			t.Fatal(err)
		}
		if newcomer, err := m.Accounts.ShowSignUp.Do(t.Context(), result.Secret); err != nil || newcomer.Name != want {
			t.Errorf("%q: got %q, error %v, want %q proposed", name, newcomer.Name, err, want)
		}
	}
}

// TestOfficialNames checks that users cannot choose a name that suggests an operator, but can keep one.
func TestOfficialNames(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "admin"})
	m.CreateUser(t, users.CreateInput{Name: "eve"})
	for _, c := range []struct {
		owner, name string
		want        fault.Kind
	}{{"eve", "Administrator", fault.Invalid}, {"eve", "Eve", fault.None}, {"admin", "Admin", fault.None}} {
		err := m.Users.Update.Own(t.Context(), audit.By(m.Session(t, c.owner), netip.Addr{}),
			users.Profile{Name: c.name, DefaultLanguage: "Go"})
		if fault.KindOf(err) != c.want {
			t.Errorf("%s becomes %s: got %v, want %v", c.owner, c.name, err, c.want)
		}
	}
}

// TestAvatars checks that nobody chooses an address that could end an HTML attribute. A stored address stays.
func TestAvatars(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	code, avatar := vouch(m, "1", "ann"), `https://id.example/"onload="x`
	account := m.Provider.Answers[code]
	account.AvatarURL = avatar
	m.Provider.Answers[code] = account
	result, err := visitProvider(t, m.Accounts, token.Viewer{}, accounts.BeginInput{Provider: "oidc"}, code)
	if err != nil {
		t.Fatal(err)
	}
	created, _, err := m.Accounts.SignUp.Do(t.Context(), modules.By(token.Viewer{}), result.Secret, "ann")
	if err != nil || created.AvatarURL != "" {
		t.Errorf("got %+v, error %v, want no avatar", created, err)
	}
	viewer, profile := m.Session(t, "owner"), users.Profile{Name: "owner", DefaultLanguage: "Go", AvatarURL: avatar}
	modules.WantKind(t, "chosen on the page", m.Users.Update.Own(t.Context(), modules.By(viewer), profile), fault.Invalid)
	_, _, err = m.UserStore.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, viewer.User.ID,
		func(u *user.User, _ map[string]string) error {
			u.AvatarURL = avatar
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Users.Update.Own(t.Context(), modules.By(viewer), profile); err != nil {
		t.Errorf("got %v, want the rest of an imported profile saved", err)
	}
}

func TestArriveSuspended(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "ann", Identities: map[string]string{"github": "1"}})
	ann := m.Session(t, "ann").User
	if _, _, err := m.UserStore.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, ann.ID,
		func(u *user.User, _ map[string]string) error {
			u.Suspended = true
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	got, err := visitProvider(t, m.Accounts, token.Viewer{}, accounts.BeginInput{Provider: "github"}, vouch(m, "1", "ann"))
	modules.WantKind(t, "suspended", err, fault.Forbidden)
	if got.User.ID != "" {
		t.Errorf("got %+v, want nobody", got)
	}
}

func TestArriveRefuses(t *testing.T) {
	t.Parallel()
	m := modules.New()
	code := vouch(m, "1", "ann")
	for what, alter := range map[string]func(source, secret *string, callback *identity.Callback){
		"another browser":  func(_, secret *string, _ *identity.Callback) { *secret = "" },
		"another secret":   func(_, secret *string, _ *identity.Callback) { *secret = "made up" },
		"another state":    func(_, _ *string, callback *identity.Callback) { callback.State = "made up" },
		"no state":         func(_, _ *string, callback *identity.Callback) { callback.State = "" },
		"another provider": func(source, _ *string, _ *identity.Callback) { *source = "github" },
		"cancelled": func(_, _ *string, callback *identity.Callback) {
			callback.Code, callback.Error = "", "access_denied"
		},
		"error and code": func(_, _ *string, callback *identity.Callback) { callback.Error = "server_error" },
		"another code":   func(_, _ *string, callback *identity.Callback) { callback.Code = "made up" },
		"too late":       func(_, _ *string, _ *identity.Callback) { m.Now = m.Now.Add(identity.AttemptAge) },
	} {
		redirect, err := m.Accounts.BeginSignIn.Do(t.Context(), modules.By(token.Viewer{}),
			accounts.BeginInput{Provider: "oidc"})
		if err != nil {
			t.Fatal(err)
		}
		source, secret, callback := "oidc", redirect.Secret, identity.Callback{State: redirect.State, Code: code}
		alter(&source, &secret, &callback)
		got, err := m.Accounts.FinishSignIn.Do(t.Context(), modules.By(token.Viewer{}), resumeAs(token.Viewer{}), source,
			secret,
			callback)
		modules.WantKind(t, what, err, fault.Invalid)
		if got != (accounts.SignInResult{}) {
			t.Errorf("%s: got %+v, want nothing", what, got)
		}
	}
	redirect, err := m.Accounts.BeginSignIn.Do(t.Context(), modules.By(visitor), accounts.BeginInput{Provider: "oidc"})
	if err != nil {
		t.Fatal(err)
	}
	callback := identity.Callback{State: redirect.State, Code: code}
	result, err := m.Accounts.FinishSignIn.Do(
		t.Context(),
		modules.By(token.Viewer{}),
		resumeAs(token.Viewer{}),
		"oidc",
		redirect.Secret,
		callback,
	)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Accounts.FinishSignIn.Do(t.Context(), modules.By(token.Viewer{}), resumeAs(token.Viewer{}), "oidc",
		redirect.Secret,
		callback)
	modules.WantKind(t, "replayed", err, fault.Invalid)
	// Whoever chooses a name is not at a provider, and whoever is at a provider has no name to choose yet.
	_, err = m.Accounts.FinishSignIn.Do(
		t.Context(),
		modules.By(token.Viewer{}),
		resumeAs(token.Viewer{}),
		"oidc",
		result.Secret,
		identity.Callback{Code: code},
	)
	modules.WantKind(t, "an answer without a question", err, fault.Invalid)
	redirect, err = m.Accounts.BeginSignIn.Do(t.Context(), modules.By(visitor), accounts.BeginInput{Provider: "oidc"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = m.Accounts.SignUp.Do(t.Context(), modules.By(token.Viewer{}), redirect.Secret, "ann")
	modules.WantKind(t, "nobody vouched", err, fault.Invalid)
	_, err = m.Accounts.BeginSignIn.Do(t.Context(), modules.By(token.Viewer{}), accounts.BeginInput{Provider: "gitlab"})
	modules.WantKind(t, "a provider that is off", err, fault.NotFound)
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "member", Identities: map[string]string{"github": "7"}})
	member, stranger := vouch(m, "7", "x"), vouch(m, "8", "y")
	created, code, err := m.Accounts.Invite.Do(t.Context(), audit.Operator(), 1, time.Hour, "hi")
	if err != nil {
		t.Fatal(err)
	}
	for _, registration := range []accounts.Registration{accounts.Closed, accounts.Invite, accounts.Open} {
		a := withRegistration(m, registration)
		got, err := visitProvider(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github"}, member)
		if err != nil || got.User.Name.String() != "member" {
			t.Errorf("%s: got %+v, error %v, want the user with the account", registration, got, err)
		}
		_, without := visitProvider(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github"}, stranger)
		_, with := visitProvider(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github", Code: code}, stranger)
		if (without == nil) != (registration == accounts.Open) || (with == nil) != (registration != accounts.Closed) {
			t.Errorf("%s: got %v without and %v with an invitation, want as configured", registration, without, with)
		}
		for _, err := range []error{without, with} {
			if err != nil {
				modules.WantKind(t, string(registration), err, fault.Forbidden)
			}
		}
	}
	// The name is chosen up to ten minutes later. Who takes new users may have changed.
	open := withRegistration(m, accounts.Open)
	late, err := visitProvider(t, open, visitor, accounts.BeginInput{Provider: "github"}, stranger)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []accounts.Registration{accounts.Closed, accounts.Invite} {
		_, _, err := withRegistration(m, how).SignUp.Do(t.Context(), modules.By(visitor), late.Secret, "late")
		modules.WantKind(t, string(how)+" since the sign-in began", err, fault.Forbidden)
	}
	a := withRegistration(m, accounts.Invite)
	invitation, err := a.Invite.Show(t.Context(), code)
	if err != nil || invitation.Note != "hi" || invitation.ID != created.ID {
		t.Errorf("got %+v, error %v, want the invitation", invitation, err)
	}
	signUpWith := func(code string) (accounts.SignInResult, error) {
		return visitProvider(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github", Code: code}, stranger)
	}
	first, err := signUpWith(code)
	if err != nil {
		t.Fatal(err)
	}
	second, err := visitProvider(t, a, visitor, accounts.BeginInput{Provider: "github", Code: code}, vouch(m, "9", "z"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.SignUp.Do(t.Context(), modules.By(token.Viewer{}), first.Secret, "first"); err != nil {
		t.Error(err)
	}
	_, _, err = a.SignUp.Do(t.Context(), modules.By(token.Viewer{}), second.Secret, "second")
	if !errors.Is(err, identity.ErrInvitation) {
		t.Errorf("a second user of one invitation: got %v, want %v", err, identity.ErrInvitation)
	}
	for _, wrong := range []string{code, "made up", "\x00"} {
		if _, err := signUpWith(wrong); !errors.Is(err, identity.ErrInvitation) {
			t.Errorf("%q: got %v, want %v", wrong, err, identity.ErrInvitation)
		}
		if _, err := a.Invite.Show(t.Context(), wrong); !errors.Is(err, identity.ErrInvitation) {
			t.Errorf("%q: got %v, want %v", wrong, err, identity.ErrInvitation)
		}
	}
	_, code, err = a.Invite.Do(t.Context(), audit.Operator(), 2, time.Hour, "")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := a.Invite.All(t.Context(), audit.Operator()); err != nil || len(all) != 2 {
		t.Errorf("got %v, error %v, want both", all, err)
	}
	for _, reference := range []string{code, string(created.ID)} {
		id, err := a.Invite.Revoke(t.Context(), audit.Operator(), reference)
		if err != nil || reference == string(created.ID) && id != created.ID {
			t.Errorf("got %s, error %v, want the id of the invitation", id, err)
		}
		_, err = a.Invite.Revoke(t.Context(), audit.Operator(), reference)
		modules.WantKind(t, "again", err, fault.NotFound)
	}
	for what, c := range map[string]struct {
		uses int
		time time.Duration
		note string
	}{
		"no use": {0, 1, ""}, "many": {10_001, 1, ""}, "no time": {1, 0, ""}, "a long note": {1, 1, strings.Repeat("x", 257)},
		"an unprintable note": {1, 1, "\n"},
	} {
		_, _, err := a.Invite.Do(t.Context(), audit.Operator(), c.uses, c.time, c.note)
		modules.WantKind(t, what, err, fault.Invalid)
	}
}

func TestLinking(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "ann", Identities: map[string]string{"github": "1"}})
	m.CreateUser(t, users.CreateInput{Name: "bob", Identities: map[string]string{"github": "2"}})
	ann, bob := m.Session(t, "ann"), m.Session(t, "bob")
	link := accounts.BeginInput{Provider: "oidc", Link: true}
	modules.WantKind(t, "the last one", m.Accounts.Link.UndoOwn(t.Context(), modules.By(ann), "github"), fault.Conflict)
	if got, err := visitProvider(t, m.Accounts, ann, link, vouch(m, "o1", "")); err != nil || !got.Linked {
		t.Errorf("got %+v, error %v, want it linked", got, err)
	}
	if got, err := visitProvider(t, m.Accounts, token.Viewer{}, accounts.BeginInput{Provider: "oidc"}, "o1"); err != nil ||
		got.User.ID != ann.User.ID {
		t.Errorf("got %+v, error %v, want to sign in with it", got, err)
	}
	_, err := visitProvider(t, m.Accounts, bob, link, "o1")
	modules.WantKind(t, "somebody else's", err, fault.Conflict)
	_, err = visitProvider(t, m.Accounts, ann, link, vouch(m, "o2", ""))
	modules.WantKind(t, "another one of the same provider", err, fault.Conflict)

	old, reading, withToken := ann, ann, ann
	old.Token.CreatedAt = m.Now.Add(-time.Hour)
	reading.Token.Scope = token.Read
	withToken.Token.Kind = token.Access
	for what, viewer := range map[string]token.Viewer{"an old session": old, "no session": {}, "a token": withToken} {
		_, err := m.Accounts.BeginSignIn.Do(t.Context(), modules.By(viewer), link)
		modules.WantKind(t, what, err, fault.Unauthenticated)
		modules.WantKind(t, what, m.Accounts.Link.UndoOwn(t.Context(), modules.By(viewer), "github"), fault.Unauthenticated)
	}
	_, err = m.Accounts.BeginSignIn.Do(t.Context(), modules.By(reading), link)
	modules.WantKind(t, "a session that only reads", err, fault.Forbidden)
	redirect, err := m.Accounts.BeginSignIn.Do(t.Context(), modules.By(bob), link)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Accounts.FinishSignIn.Do(
		t.Context(),
		modules.By(token.Viewer{}),
		resumeAs(ann),
		"oidc",
		redirect.Secret,
		identity.Callback{State: redirect.State, Code: "o2"},
	)
	modules.WantKind(t, "another user than began it", err, fault.Forbidden)

	if err := m.Accounts.Link.UndoOwn(t.Context(), modules.By(ann), "github"); err != nil {
		t.Error(err)
	}
	modules.WantKind(t, "the last one", m.Accounts.Link.UndoOwn(t.Context(), modules.By(ann), "oidc@https://id.example"),
		fault.Conflict)

	both := map[string]string{"github": "3", "oidc@https://id.example": "3"}
	m.CreateUser(t, users.CreateInput{Name: "cyd", Identities: both})
	cyd := m.Session(t, "cyd")
	suspend(t, m, cyd.User.ID)
	if err := m.Accounts.Link.UndoOwn(t.Context(), modules.By(cyd), "github"); !errors.Is(err, token.ErrSuspended) {
		t.Errorf("got %v of a user who was suspended since the request began, want %v", err, token.ErrSuspended)
	}

	// Operators link and unlink accounts without these limits.
	if err := m.Accounts.Link.Do(t.Context(), audit.Operator(), "ann", "github:11"); err != nil {
		t.Error(err)
	}
	for text, kind := range map[string]fault.Kind{
		"github": fault.Invalid, "github:": fault.Invalid, "gitlab:1": fault.NotFound, "github:2": fault.Conflict,
		"oidc:o9": fault.Conflict,
	} {
		modules.WantKind(t, text, m.Accounts.Link.Do(t.Context(), audit.Operator(), "ann", text), kind)
	}
	for _, provider := range []string{"github", "oidc@https://id.example"} {
		if err := m.Accounts.Link.Undo(t.Context(), audit.Operator(), "ann", provider); err != nil {
			t.Error(err)
		}
		modules.WantKind(t, "again", m.Accounts.Link.Undo(t.Context(), audit.Operator(), "ann", provider), fault.NotFound)
	}
	if account, err := m.Users.Show.Do(t.Context(), audit.Operator(), "ann"); err != nil || len(account.Identities) != 0 {
		t.Errorf("got %v, error %v, want none left", account, err)
	}
}
