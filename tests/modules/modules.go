// Package modules builds the modules of use cases over a store in memory, for tests of their rules.
package modules

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/fake"
)

// Modules are the modules over one store.
type Modules struct {
	Now     time.Time       // the time on their clock, which tests move
	Notices []notice.Notice // what the operator was told

	Users    *users.UseCases
	Tokens   *tokens.UseCases
	Pastes   *pastes.UseCases
	Stats    *stats.UseCases
	Search   *search.UseCases
	Accounts *accounts.UseCases // with Provider; everyone may sign up

	Provider   *Provider
	UserStore  fake.Users
	TokenStore fake.Tokens
	PasteStore fake.Pastes
}

// SweepGrace is the grace in PasteOptions.
const SweepGrace = time.Hour

// PasteOptions accept any language name.
var PasteOptions = pastes.Options{SweepGrace: SweepGrace, Rules: paste.Rules{
	Limits: paste.DefaultLimits(), NewID: ident.New, Diff: linediff.Unified,
	Language: func(input, _, _ string) (string, bool) { return input, true },
}}

// New returns modules over an empty store.
func New() *Modules {
	store := new(fake.Store)
	m := &Modules{
		UserStore: fake.Users{Store: store}, TokenStore: fake.Tokens{Store: store}, PasteStore: fake.Pastes{Store: store},
		Now:      time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
		Provider: &Provider{Answers: make(map[string]identity.Profile)},
	}
	store.Now = m.Clock
	m.Tokens = tokens.New(m.TokenStore, m.UserStore, m.Clock)
	m.Users = users.New(m.UserStore, fake.Identities{Store: store}, paste.Lifetimes{}, m.Notify, m.Clock)
	options := PasteOptions
	options.Notify = m.Notify
	m.Pastes = pastes.New(m.PasteStore, m.UserStore, options, m.Clock)
	m.Accounts = m.AccountsWith(accounts.Options{Providers: m.Provider.Providers(), Registration: accounts.Open})
	m.Stats = stats.New(fake.Stats{Store: store})
	m.Search = search.New(fake.Search{Store: store}, Languages{"name golang": {Name: "Go"}, "name cpp": {Name: "C++"}})
	return m
}

// AccountsWith returns another accounts module over the same store.
func (m *Modules) AccountsWith(options accounts.Options) *accounts.UseCases {
	return accounts.New(fake.Identities{Store: m.UserStore.Store}, m.UserStore, options, m.Clock)
}

// Clock returns Now.
func (m *Modules) Clock() time.Time { return m.Now }

// Notify appends to Notices.
func (m *Modules) Notify(n notice.Notice) { m.Notices = append(m.Notices, n) }

// CreateUser creates a user.
func (m *Modules) CreateUser(t *testing.T, input users.CreateInput) {
	t.Helper()
	if _, err := m.Users.Create.Do(t.Context(), audit.Operator(), input); err != nil {
		t.Fatal(err)
	}
}

// IssueToken issues a token that does not expire.
func (m *Modules) IssueToken(t *testing.T, owner string) token.Secret {
	t.Helper()
	_, secret, err := m.Tokens.Issue.Do(t.Context(), audit.Operator(), owner, tokens.IssueInput{Name: "a token"})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// SignIn issues a token to a user, and signs in with it.
func (m *Modules) SignIn(t *testing.T, name string) token.Viewer {
	t.Helper()
	viewer, err := m.Tokens.SignIn.Do(t.Context(), m.IssueToken(t, name).Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return viewer
}

// Session returns a viewer with a new session, which is not stored.
func (m *Modules) Session(t *testing.T, name string) token.Viewer {
	t.Helper()
	owner, err := m.UserStore.ByName(t.Context(), Name(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return token.Viewer{User: owner, Token: token.Token{ID: "s", Owner: owner.ID, Kind: token.Session, CreatedAt: m.Now}}
}

// CreatePaste creates a paste with a lifetime such as 1h. It is anonymous if owner is "".
func (m *Modules) CreatePaste(t *testing.T, owner, lifetime string) paste.ID {
	t.Helper()
	draft := Draft("x")
	draft.Lifetime = &lifetime
	created, err := m.Pastes.Create.Do(t.Context(), audit.Operator(), owner, draft)
	if err != nil {
		t.Fatal(err)
	}
	return created.ID
}

// Draft returns a draft with one pasty.
func Draft(code string) paste.Draft { return paste.Draft{Pasties: []paste.PastyDraft{{Code: &code}}} }

// By returns a viewer as an actor without an address.
func By(viewer token.Viewer) audit.Actor { return audit.By(viewer, netip.Addr{}) }

// Name parses a user's name.
func Name(t *testing.T, text string) user.Name {
	t.Helper()
	name, err := user.ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// WantKind checks the kind of an error.
func WantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: got %v, want an error of kind %v", what, err, kind)
	}
}

// Languages is a catalogue. A key is a kind of lookup and its argument, as in "name golang".
type Languages map[string]*language.Language

func (l Languages) find(kind, key string) (*language.Language, bool) {
	match, ok := l[kind+key]
	return match, ok
}

// All implements language.Catalogue.
func (l Languages) All() []*language.Language { return slices.Collect(maps.Values(l)) }

// ByName implements language.Catalogue.
func (l Languages) ByName(s string) (*language.Language, bool) { return l.find("name ", s) }

// ByExtension implements language.Catalogue.
func (l Languages) ByExtension(s string) (*language.Language, bool) { return l.find("extension ", s) }

// ByFilename implements language.Catalogue.
func (l Languages) ByFilename(s string) (*language.Language, bool) { return l.find("file ", s) }

// ByInterpreter implements language.Catalogue.
func (l Languages) ByInterpreter(s string) (*language.Language, bool) { return l.find("program ", s) }

// Detect implements language.Detector.
func (l Languages) Detect(s string) (*language.Language, bool) { return l.find("code ", s) }

// Provider is an identity provider that answers a code with a profile.
type Provider struct{ Answers map[string]identity.Profile }

// Begin implements identity.ProviderClient.
func (p *Provider) Begin(_ context.Context, proof identity.Proof) (string, error) {
	return "https://id.example/?state=" + proof.State, nil
}

// Finish implements identity.ProviderClient.
func (p *Provider) Finish(_ context.Context, _ identity.Proof, callback identity.Callback) (identity.Profile, error) {
	profile, ok := p.Answers[callback.Code]
	if !ok {
		return identity.Profile{}, fault.New(fault.Invalid, "no such code")
	}
	return profile, nil
}

// Providers returns two providers with the same answers: github and oidc.
func (p *Provider) Providers() []identity.Provider {
	return []identity.Provider{
		{ProviderClient: p, Name: "github", Label: "GitHub", Key: "github"},
		{ProviderClient: p, Name: "oidc", Label: "Example", Key: "oidc@https://id.example"},
	}
}
