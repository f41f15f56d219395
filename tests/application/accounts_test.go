package application

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
	"github.com/gluepot/gluepot/tests/fake"
)

// provider vouches for whom its codes are.
type provider struct{ answers map[string]identity.Profile }

// Begin implements identity.ProviderClient.
func (p *provider) Begin(_ context.Context, proof identity.Proof) (string, error) {
	return "https://id.example/?state=" + proof.State, nil
}

// Finish implements identity.ProviderClient.
func (p *provider) Finish(_ context.Context, _ identity.Proof, brought identity.Callback) (identity.Profile, error) {
	found, ok := p.answers[brought.Code]
	if !ok {
		return identity.Profile{}, fault.New(fault.Invalid, "no such code")
	}
	return found, nil
}

func (p *provider) sources() []identity.Provider {
	return []identity.Provider{
		{ProviderClient: p, Name: "github", Label: "GitHub", Key: "github"},
		{ProviderClient: p, Name: "oidc", Label: "Example", Key: "oidc@https://id.example"},
	}
}

// registered has other accounts over the store of a world.
func (w *world) registered(how accounts.Registration) *accounts.UseCases {
	return accounts.New(fake.Identities{Store: w.userStore.Store}, w.userStore, accounts.Options{
		Providers: w.provider.sources(), Registration: how,
	}, w.clock)
}

// vouch has the provider vouch for an account, and returns the code for it.
func (w *world) vouch(subject, name string) string {
	w.provider.answers[subject] = identity.Profile{
		Identity: identity.Identity{Subject: subject}, Name: name, AvatarURL: "https://id.example/" + subject,
	}
	return subject
}

func resumed(viewer token.Viewer) func(context.Context) (token.Viewer, error) {
	return func(context.Context) (token.Viewer, error) { return viewer, nil }
}

// arrive has a visitor go to a provider and come back with a code.
func arrive(t *testing.T, a *accounts.UseCases, viewer token.Viewer, wanted accounts.BeginInput,
	code string) (accounts.SignInResult, error) {
	t.Helper()
	begun, err := a.BeginSignIn.Do(t.Context(), by(viewer), wanted)
	if err != nil {
		return accounts.SignInResult{}, err
	}
	return a.FinishSignIn.Do(
		t.Context(),
		by(token.Viewer{}),
		resumed(viewer),
		wanted.Provider,
		begun.Secret,
		identity.Callback{State: begun.State, Code: code},
	)
}

// session is a viewer who has just signed in.
func (w *world) session(t *testing.T, name string) token.Viewer {
	t.Helper()
	parsed, err := user.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	found, err := w.userStore.ByName(t.Context(), parsed)
	if err != nil {
		t.Fatal(err)
	}
	return token.Viewer{User: found, Token: token.Token{ID: "s", Owner: found.ID, Kind: token.Session, CreatedAt: w.now}}
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "taken"})
	wanted := accounts.BeginInput{Provider: "oidc", Next: "/a"}
	arrived, err := arrive(t, w.accounts, token.Viewer{}, wanted, w.vouch("1", "Ann Example"))
	if err != nil || arrived.Secret == "" || arrived.User.ID != "" {
		t.Fatalf("got %+v, error %v, want to choose a name", arrived, err)
	}
	second, err := arrive(t, w.accounts, token.Viewer{}, wanted, "1")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := w.accounts.ShowSignUp.Do(t.Context(), arrived.Secret)
	if err != nil || shown != (accounts.Newcomer{Provider: "Example", Name: "Ann-Example"}) {
		t.Errorf("got %+v, error %v, want the name proposed", shown, err)
	}
	for name, kind := range map[string]fault.Kind{
		"": fault.Invalid, "a b": fault.Invalid, "self": fault.Invalid, "Admin": fault.Invalid, "TAKEN": fault.Conflict,
	} {
		_, _, err := w.accounts.SignUp.Do(t.Context(), by(token.Viewer{}), arrived.Secret, name)
		wantKind(t, name, err, kind)
	}
	made, next, err := w.accounts.SignUp.Do(t.Context(), by(token.Viewer{}), arrived.Secret, "ann")
	if err != nil || next != "/a" || made.Name.String() != "ann" || made.AvatarURL != "https://id.example/1" ||
		made.PublicProfile {
		t.Fatalf("got %+v, %s, error %v, want the account, private", made, next, err)
	}
	_, _, err = w.accounts.SignUp.Do(t.Context(), by(token.Viewer{}), arrived.Secret, "again")
	wantKind(t, "a second time", err, fault.Invalid)
	same, _, err := w.accounts.SignUp.Do(t.Context(), by(token.Viewer{}), second.Secret, "another")
	if err != nil || same.ID != made.ID {
		t.Errorf("got %+v, error %v, want the same account for the same person", same, err)
	}
	if again, err := arrive(t, w.accounts, token.Viewer{}, wanted, "1"); err != nil || again.User.ID != made.ID ||
		again.Next != "/a" {
		t.Errorf("got %+v, error %v, want the account", again, err)
	}
	// The same number at another provider is another user.
	if other, err := arrive(t, w.accounts, token.Viewer{}, accounts.BeginInput{Provider: "github"}, "1"); err != nil ||
		other.Secret == "" {
		t.Errorf("got %+v, error %v, want another account", other, err)
	}
}

func TestProposedNames(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "taken"})
	w.user(t, users.CreateInput{Name: "former"})
	profile := users.Profile{Name: "renamed", DefaultLanguage: "Go"}
	if err := w.users.Update.Own(t.Context(), audit.By(w.session(t, "former"), netip.Addr{}), profile); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ann": "ann", "Taken": "", "former": "", "": "", "self": "", "Moderator": "",
		"Änn": "nn", "\u0430nn": "nn", "-a-": "a", "a\x00b": "ab", "\xff": "",
		"<script>":               "script",
		strings.Repeat("x", 500): strings.Repeat("x", 64),
	} {
		arrived, err := arrive(t, w.accounts, token.Viewer{}, accounts.BeginInput{Provider: "oidc"}, w.vouch("1", name))
		if err != nil {
			t.Fatal(err)
		}
		if shown, err := w.accounts.ShowSignUp.Do(t.Context(), arrived.Secret); err != nil || shown.Name != want {
			t.Errorf("%q: got %q, error %v, want %q proposed", name, shown.Name, err, want)
		}
	}
}

// TestOfficialNames wants names that suggest an operator to be given by operators alone, and kept.
func TestOfficialNames(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "admin"})
	w.user(t, users.CreateInput{Name: "eve"})
	for _, c := range []struct {
		owner, name string
		want        fault.Kind
	}{{"eve", "Administrator", fault.Invalid}, {"eve", "Eve", fault.None}, {"admin", "Admin", fault.None}} {
		err := w.users.Update.Own(t.Context(), audit.By(w.session(t, c.owner), netip.Addr{}),
			users.Profile{Name: c.name, DefaultLanguage: "Go"})
		if fault.KindOf(err) != c.want {
			t.Errorf("%s becomes %s: got %v, want %v", c.owner, c.name, err, c.want)
		}
	}
}

// TestAvatars refuses a chosen address that could end an attribute of HTML. What is stored stays.
func TestAvatars(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	code, quoted := w.vouch("1", "ann"), `https://id.example/"onload="x`
	vouched := w.provider.answers[code]
	vouched.AvatarURL = quoted
	w.provider.answers[code] = vouched
	arrived, err := arrive(t, w.accounts, token.Viewer{}, accounts.BeginInput{Provider: "oidc"}, code)
	if err != nil {
		t.Fatal(err)
	}
	if made, _, err := w.accounts.SignUp.Do(t.Context(), by(token.Viewer{}), arrived.Secret, "ann"); err != nil ||
		made.AvatarURL != "" {
		t.Errorf("got %+v, error %v, want no avatar", made, err)
	}
	viewer, profile := w.session(t, "owner"), users.Profile{Name: "owner", DefaultLanguage: "Go", AvatarURL: quoted}
	wantKind(t, "chosen on the page", w.users.Update.Own(t.Context(), by(viewer), profile), fault.Invalid)
	_, _, err = w.userStore.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, viewer.User.ID,
		func(u *user.User, _ map[string]string) error {
			u.AvatarURL = quoted
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.users.Update.Own(t.Context(), by(viewer), profile); err != nil {
		t.Errorf("got %v, want the rest of an imported profile saved", err)
	}
}

func TestArriveSuspended(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "ann", Identities: map[string]string{"github": "1"}})
	ann := w.session(t, "ann").User
	if _, _, err := w.userStore.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, ann.ID,
		func(u *user.User, _ map[string]string) error {
			u.Suspended = true
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	got, err := arrive(t, w.accounts, token.Viewer{}, accounts.BeginInput{Provider: "github"}, w.vouch("1", "ann"))
	wantKind(t, "suspended", err, fault.Forbidden)
	if got.User.ID != "" {
		t.Errorf("got %+v, want nobody", got)
	}
}

func TestArriveRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld()
	code := w.vouch("1", "ann")
	for what, alter := range map[string]func(source, secret *string, brought *identity.Callback){
		"another browser":  func(_, secret *string, _ *identity.Callback) { *secret = "" },
		"another secret":   func(_, secret *string, _ *identity.Callback) { *secret = "made up" },
		"another state":    func(_, _ *string, brought *identity.Callback) { brought.State = "made up" },
		"no state":         func(_, _ *string, brought *identity.Callback) { brought.State = "" },
		"another provider": func(source, _ *string, _ *identity.Callback) { *source = "github" },
		"cancelled": func(_, _ *string, brought *identity.Callback) {
			brought.Code, brought.Error = "", "access_denied"
		},
		"error and code": func(_, _ *string, brought *identity.Callback) { brought.Error = "server_error" },
		"another code":   func(_, _ *string, brought *identity.Callback) { brought.Code = "made up" },
		"too late":       func(_, _ *string, _ *identity.Callback) { w.now = w.now.Add(identity.AttemptAge) },
	} {
		begun, err := w.accounts.BeginSignIn.Do(t.Context(), by(token.Viewer{}), accounts.BeginInput{Provider: "oidc"})
		if err != nil {
			t.Fatal(err)
		}
		source, secret, brought := "oidc", begun.Secret, identity.Callback{State: begun.State, Code: code}
		alter(&source, &secret, &brought)
		got, err := w.accounts.FinishSignIn.Do(t.Context(), by(token.Viewer{}), resumed(token.Viewer{}), source, secret,
			brought)
		wantKind(t, what, err, fault.Invalid)
		if got != (accounts.SignInResult{}) {
			t.Errorf("%s: got %+v, want nothing", what, got)
		}
	}
	begun, err := w.accounts.BeginSignIn.Do(t.Context(), by(token.Viewer{}), accounts.BeginInput{Provider: "oidc"})
	if err != nil {
		t.Fatal(err)
	}
	brought := identity.Callback{State: begun.State, Code: code}
	arrived, err := w.accounts.FinishSignIn.Do(
		t.Context(),
		by(token.Viewer{}),
		resumed(token.Viewer{}),
		"oidc",
		begun.Secret,
		brought,
	)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.accounts.FinishSignIn.Do(t.Context(), by(token.Viewer{}), resumed(token.Viewer{}), "oidc", begun.Secret,
		brought)
	wantKind(t, "replayed", err, fault.Invalid)
	// Who chooses a name has no question that an answer could belong to, and who is at a provider has no name to choose.
	_, err = w.accounts.FinishSignIn.Do(
		t.Context(),
		by(token.Viewer{}),
		resumed(token.Viewer{}),
		"oidc",
		arrived.Secret,
		identity.Callback{Code: code},
	)
	wantKind(t, "an answer to no question", err, fault.Invalid)
	begun, err = w.accounts.BeginSignIn.Do(t.Context(), by(token.Viewer{}), accounts.BeginInput{Provider: "oidc"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = w.accounts.SignUp.Do(t.Context(), by(token.Viewer{}), begun.Secret, "ann")
	wantKind(t, "nobody vouched", err, fault.Invalid)
	_, err = w.accounts.BeginSignIn.Do(t.Context(), by(token.Viewer{}), accounts.BeginInput{Provider: "gitlab"})
	wantKind(t, "a provider that is off", err, fault.NotFound)
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "known", Identities: map[string]string{"github": "7"}})
	known, stranger := w.vouch("7", "x"), w.vouch("8", "y")
	made, code, err := w.accounts.Invite.Do(t.Context(), audit.Operator(), 1, time.Hour, "hi")
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []accounts.Registration{accounts.Closed, accounts.Invite, accounts.Open} {
		a := w.registered(how)
		got, err := arrive(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github"}, known)
		if err != nil || got.User.Name.String() != "known" {
			t.Errorf("%s: got %+v, error %v, want who has an account", how, got, err)
		}
		_, without := arrive(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github"}, stranger)
		_, with := arrive(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github", Code: code}, stranger)
		if (without == nil) != (how == accounts.Open) || (with == nil) != (how != accounts.Closed) {
			t.Errorf("%s: got %v without and %v with an invitation", how, without, with)
		}
		for _, err := range []error{without, with} {
			if err != nil {
				wantKind(t, string(how), err, fault.Forbidden)
			}
		}
	}
	a := w.registered(accounts.Invite)
	if shown, err := a.Invite.Show(t.Context(), code); err != nil || shown.Note != "hi" || shown.ID != made.ID {
		t.Errorf("got %+v, error %v, want the invitation", shown, err)
	}
	invited := func(code string) (accounts.SignInResult, error) {
		return arrive(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github", Code: code}, stranger)
	}
	first, err := invited(code)
	if err != nil {
		t.Fatal(err)
	}
	second, err := arrive(t, a, token.Viewer{}, accounts.BeginInput{Provider: "github", Code: code}, w.vouch("9", "z"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.SignUp.Do(t.Context(), by(token.Viewer{}), first.Secret, "first"); err != nil {
		t.Error(err)
	}
	_, _, err = a.SignUp.Do(t.Context(), by(token.Viewer{}), second.Secret, "second")
	if !errors.Is(err, identity.ErrInvitation) {
		t.Errorf("got %v, want an invitation for one to be good for one", err)
	}
	for _, wrong := range []string{code, "made up", "\x00"} {
		if _, err := invited(wrong); !errors.Is(err, identity.ErrInvitation) {
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
	for _, reference := range []string{code, string(made.ID)} {
		id, err := a.Invite.Revoke(t.Context(), audit.Operator(), reference)
		if err != nil || reference == string(made.ID) && id != made.ID {
			t.Errorf("got %s, error %v, want the id of what was revoked", id, err)
		}
		_, err = a.Invite.Revoke(t.Context(), audit.Operator(), reference)
		wantKind(t, "again", err, fault.NotFound)
	}
	for what, c := range map[string]struct {
		uses int
		time time.Duration
		note string
	}{
		"no use": {0, 1, ""}, "many": {10_001, 1, ""}, "no time": {1, 0, ""}, "a long note": {1, 1, strings.Repeat("x", 257)},
		"a note that is none": {1, 1, "\n"},
	} {
		_, _, err := a.Invite.Do(t.Context(), audit.Operator(), c.uses, c.time, c.note)
		wantKind(t, what, err, fault.Invalid)
	}
}

func TestLinking(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "ann", Identities: map[string]string{"github": "1"}})
	w.user(t, users.CreateInput{Name: "bob", Identities: map[string]string{"github": "2"}})
	ann, bob := w.session(t, "ann"), w.session(t, "bob")
	link := accounts.BeginInput{Provider: "oidc", Link: true}
	wantKind(t, "the last one", w.accounts.Link.UndoOwn(t.Context(), by(ann), "github"), fault.Conflict)
	if got, err := arrive(t, w.accounts, ann, link, w.vouch("o1", "")); err != nil || !got.Linked {
		t.Errorf("got %+v, error %v, want it linked", got, err)
	}
	if got, err := arrive(t, w.accounts, token.Viewer{}, accounts.BeginInput{Provider: "oidc"}, "o1"); err != nil ||
		got.User.ID != ann.User.ID {
		t.Errorf("got %+v, error %v, want to sign in with it", got, err)
	}
	_, err := arrive(t, w.accounts, bob, link, "o1")
	wantKind(t, "somebody else's", err, fault.Conflict)
	_, err = arrive(t, w.accounts, ann, link, w.vouch("o2", ""))
	wantKind(t, "another one of the same provider", err, fault.Conflict)

	old, reading, withToken := ann, ann, ann
	old.Token.CreatedAt = w.now.Add(-time.Hour)
	reading.Token.Scope = token.Read
	withToken.Token.Kind = token.Access
	for what, viewer := range map[string]token.Viewer{"an old session": old, "no session": {}, "a token": withToken} {
		_, err := w.accounts.BeginSignIn.Do(t.Context(), by(viewer), link)
		wantKind(t, what, err, fault.Unauthenticated)
		wantKind(t, what, w.accounts.Link.UndoOwn(t.Context(), by(viewer), "github"), fault.Unauthenticated)
	}
	_, err = w.accounts.BeginSignIn.Do(t.Context(), by(reading), link)
	wantKind(t, "a session that only reads", err, fault.Forbidden)
	begun, err := w.accounts.BeginSignIn.Do(t.Context(), by(bob), link)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.accounts.FinishSignIn.Do(
		t.Context(),
		by(token.Viewer{}),
		resumed(ann),
		"oidc",
		begun.Secret,
		identity.Callback{State: begun.State, Code: "o2"},
	)
	wantKind(t, "who did not begin it", err, fault.Forbidden)

	if err := w.accounts.Link.UndoOwn(t.Context(), by(ann), "github"); err != nil {
		t.Error(err)
	}
	wantKind(t, "the last one", w.accounts.Link.UndoOwn(t.Context(), by(ann), "oidc@https://id.example"), fault.Conflict)

	// Operators say what they want.
	if err := w.accounts.Link.Do(t.Context(), audit.Operator(), "ann", "github:11"); err != nil {
		t.Error(err)
	}
	for text, kind := range map[string]fault.Kind{
		"github": fault.Invalid, "github:": fault.Invalid, "gitlab:1": fault.NotFound, "github:2": fault.Conflict,
		"oidc:o9": fault.Conflict,
	} {
		wantKind(t, text, w.accounts.Link.Do(t.Context(), audit.Operator(), "ann", text), kind)
	}
	for _, provider := range []string{"github", "oidc@https://id.example"} {
		if err := w.accounts.Link.Undo(t.Context(), audit.Operator(), "ann", provider); err != nil {
			t.Error(err)
		}
		wantKind(t, "again", w.accounts.Link.Undo(t.Context(), audit.Operator(), "ann", provider), fault.NotFound)
	}
	if left, err := w.users.Show.Do(t.Context(), audit.Operator(), "ann"); err != nil || len(left.Identities) != 0 {
		t.Errorf("got %v, error %v, want none left", left, err)
	}
}
