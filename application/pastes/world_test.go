package pastes_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/fake"
)

// world is the use cases over a store in memory, with a clock that stands still.
type world struct {
	users  *users.UseCases
	tokens *tokens.UseCases

	userStore  fake.Users
	pasteStore fake.Pastes
	now        time.Time
}

// sweepGrace is that of a world.
const sweepGrace = time.Hour

// pasteOptions take any language for what it says it is.
var pasteOptions = pastes.Options{SweepGrace: sweepGrace, Rules: paste.Rules{
	Limits: paste.DefaultLimits(), NewID: ident.New, Diff: linediff.Unified,
	Language: func(input, _, _ string) (string, bool) { return input, true },
}}

func newWorld() *world {
	store := new(fake.Store)
	w := &world{
		userStore: fake.Users{Store: store}, pasteStore: fake.Pastes{Store: store},
		now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
	}
	store.Now = w.clock
	w.tokens = tokens.New(fake.Tokens{Store: store}, w.userStore, w.clock)
	w.users = users.New(w.userStore, fake.Identities{Store: store}, paste.Lifetimes{}, nil, w.clock)
	return w
}

func (w *world) clock() time.Time { return w.now }

func (w *world) user(t *testing.T, input users.CreateInput) {
	t.Helper()
	if _, err := w.users.Create.Do(t.Context(), audit.Operator(), input); err != nil {
		t.Fatal(err)
	}
}

// viewer signs a user in.
func (w *world) viewer(t *testing.T, name string) token.Viewer {
	t.Helper()
	_, secret, err := w.tokens.Issue.Do(t.Context(), audit.Operator(), name, tokens.IssueInput{})
	if err != nil {
		t.Fatal(err)
	}
	viewer, err := w.tokens.SignIn.Do(t.Context(), secret.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return viewer
}

func wantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: got %v, want an error of kind %v", what, err, kind)
	}
}

// tongues knows two languages.
type tongues map[string]*language.Language

func (f tongues) find(kind, key string) (*language.Language, bool) {
	match, ok := f[kind+key]
	return match, ok
}

func (f tongues) All() []*language.Language                         { return slices.Collect(maps.Values(f)) }
func (f tongues) ByName(s string) (*language.Language, bool)        { return f.find("name ", s) }
func (f tongues) ByExtension(s string) (*language.Language, bool)   { return f.find("extension ", s) }
func (f tongues) ByFilename(s string) (*language.Language, bool)    { return f.find("file ", s) }
func (f tongues) ByInterpreter(s string) (*language.Language, bool) { return f.find("program ", s) }
func (f tongues) Detect(s string) (*language.Language, bool)        { return f.find("code ", s) }
