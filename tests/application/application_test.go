// Package application tests the rules of the use cases over a store in memory and a clock that stands still.
package application

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/fake"
)

// world is the modules over one store with a clock.
type world struct {
	notices []notice.Notice // that the operator was told

	users  *users.UseCases
	tokens *tokens.UseCases
	pastes *pastes.UseCases
	stats  *stats.UseCases
	search *search.UseCases

	accounts *accounts.UseCases
	provider *provider // of accounts, which are open

	userStore  fake.Users
	tokenStore fake.Tokens
	pasteStore fake.Pastes
	now        time.Time
}

// sweepGrace is that of a world.
const sweepGrace = time.Hour

// pasteOptions take any language for what it says it is.
var pasteOptions = pastes.Options{SweepGrace: sweepGrace, Rules: paste.Rules{
	Limits: paste.DefaultLimits(), NewID: ident.New, Diff: linediff.Unified,
	Language: func(wanted, _, _ string) (string, bool) { return wanted, true },
}}

func newWorld() *world {
	store := new(fake.Store)
	w := &world{
		userStore: fake.Users{Store: store}, tokenStore: fake.Tokens{Store: store}, pasteStore: fake.Pastes{Store: store},
		now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
	}
	store.Now = w.clock
	w.tokens = tokens.New(w.tokenStore, w.userStore, w.clock)
	w.users = users.New(w.userStore, fake.Identities{Store: store}, paste.Lifetimes{}, w.notify, w.clock)
	options := pasteOptions
	options.Notify = w.notify
	w.pastes = pastes.New(w.pasteStore, w.userStore, options, w.clock)
	w.provider = &provider{answers: make(map[string]identity.Profile)}
	w.accounts = accounts.New(fake.Identities{Store: store}, w.userStore, accounts.Options{
		Providers: w.provider.sources(), Registration: accounts.Open,
	}, w.clock)
	w.stats = stats.New(fake.Stats{Store: store})
	w.search = search.New(fake.Search{Store: store}, tongues{"name golang": {Name: "Go"}, "name cpp": {Name: "C++"}})
	return w
}

func (w *world) clock() time.Time { return w.now }

func (w *world) notify(n notice.Notice) { w.notices = append(w.notices, n) }

func wantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: got %v, want an error of kind %v", what, err, kind)
	}
}

func (w *world) user(t *testing.T, wanted users.CreateInput) {
	t.Helper()
	if _, err := w.users.Create.Do(t.Context(), audit.Operator(), wanted); err != nil {
		t.Fatal(err)
	}
}

func TestPrivateProfilesLookLikeNobody(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "Open", PublicProfile: true})
	w.user(t, users.CreateInput{Name: "Shut"})
	show, exists := w.users.ShowProfile, w.users.CheckExists
	if found, err := show.Do(t.Context(), "oPEN"); err != nil || found.Name.String() != "Open" ||
		found.DefaultLanguage != "Autodetect" {
		t.Errorf("got %+v, error %v, want Open with the default language", found, err)
	}
	_, private := show.Do(t.Context(), "shut")
	_, unknown := show.Do(t.Context(), "nobody")
	_, impossible := show.Do(t.Context(), "no body")
	if !errors.Is(private, unknown) || !errors.Is(impossible, unknown) {
		t.Errorf("got %v, %v and %v, want the same of all three", private, unknown, impossible)
	}
	wantKind(t, "unknown", unknown, fault.NotFound)
	if err := exists.Do(t.Context(), "SHUT"); err != nil {
		t.Error(err)
	}
	wantKind(t, "self", exists.Do(t.Context(), "Self"), fault.NotFound)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	wantKind(t, "an outage is no answer", exists.Do(gone, "open"), fault.Unavailable)
}

func TestTokensOpenAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	uses := w.tokens.Uses
	issue, signIn := w.tokens.Issue, w.tokens.SignIn
	issued, secret, err := issue.Do(t.Context(), audit.Operator(), "OWNER",
		tokens.IssueInput{Name: "laptop", ExpiresIn: time.Hour})
	if err != nil || !strings.HasPrefix(secret.Reveal(), token.Prefix) || issued.ExpiresAt != w.now.Add(time.Hour) {
		t.Fatalf("got %+v, error %v, want a token of ours for an hour", issued, err)
	}
	ask := func(text string) error {
		viewer, first := signIn.Do(t.Context(), text)
		if viewer.SignedIn() != (first == nil) || first == nil &&
			(viewer.User.ID != issued.Owner || viewer.Token.ID != issued.ID) {
			t.Errorf("got %+v, error %v, want the owner, or nobody and an error", viewer, first)
		}
		account, second := w.users.ShowSelf.Do(t.Context(), viewer)
		if account.User != viewer.User {
			t.Errorf("got the account of %+v, want of %+v", account.User, viewer.User)
		}
		third := w.pastes.ListOwn.Do(t.Context(), viewer, func([]paste.ID) error { return nil })
		_, fourth := w.pastes.Browse.Own(t.Context(), viewer, paste.Selection{})
		for _, err := range []error{second, third, fourth} {
			if !errors.Is(err, first) {
				t.Errorf("got %v and %v, want the same", first, err)
			}
		}
		return first
	}
	if err := ask(secret.Reveal()); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "unknown", "\x00", strings.Repeat("x", 513), secret.Reveal() + "x"} {
		wantKind(t, fmt.Sprintf("%.20q", text), ask(text), fault.Unauthenticated)
	}
	if err := uses.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, _, _ := w.tokenStore.ByHash(t.Context(), secret.Hash()); found.LastUsedAt != w.now {
		t.Errorf("got the last use %v, want %v", found.LastUsedAt, w.now)
	}
	w.now = w.now.Add(time.Hour)
	wantKind(t, "at the instant of expiry", ask(secret.Reveal()), fault.Unauthenticated)
	for what, err := range map[string]error{
		"negative time":    second(issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{ExpiresIn: -1})),
		"unprintable name": second(issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{Name: "\n"})),
	} {
		wantKind(t, what, err, fault.Invalid)
	}
	wantKind(t, "nobody's token", second(issue.Do(t.Context(), audit.Operator(), "nobody", tokens.IssueInput{})),
		fault.NotFound)
}

func second[A, B any](_ A, _ B, err error) error { return err }

// TestNoSecretOfATokenThatIsNotStored wants none when the store refuses the token.
func TestNoSecretOfATokenThatIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	issue := tokens.New(&failing{Tokens: w.tokenStore, fail: true}, w.userStore, w.clock).Issue
	issued, secret, err := issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{})
	wantKind(t, "a store that fails", err, fault.Unavailable)
	if issued != (token.Token{}) || secret != (token.Secret{}) {
		t.Errorf("got the token %+v and the secret %q, want neither", issued, secret.Reveal())
	}
}

// failing stores nothing until it is told to.
type failing struct {
	fake.Tokens
	fail bool
}

func (f *failing) Create(ctx context.Context, _ netip.Addr, _ auditlog.Entry, created token.Token) error {
	if f.fail {
		return fault.New(fault.Unavailable, "x")
	}
	return f.Tokens.Create(ctx, netip.Addr{}, auditlog.Entry{}, created)
}

func (f *failing) SetLastUsed(ctx context.Context, uses map[token.ID]time.Time) error {
	if f.fail {
		return fault.New(fault.Unavailable, "x")
	}
	return f.Tokens.SetLastUsed(ctx, uses)
}

func TestUsesSurviveAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	issued, secret, err := w.tokens.Issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{})
	if err != nil {
		t.Fatal(err)
	}
	store := &failing{Tokens: w.tokenStore, fail: true}
	uses := tokens.New(store, w.userStore, w.clock).Uses
	uses.RecordUse(issued.ID, w.now.Add(time.Minute))
	uses.RecordUse(issued.ID, w.now)
	wantKind(t, "outage", uses.Do(t.Context()), fault.Unavailable)
	store.fail = false
	if err := uses.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, _, _ := w.tokenStore.ByHash(t.Context(), secret.Hash()); found.LastUsedAt != w.now.Add(time.Minute) {
		t.Errorf("got the last use %v, want %v", found.LastUsedAt, w.now.Add(time.Minute))
	}
}

func TestCountAndSweep(t *testing.T) {
	t.Parallel()
	w := newWorld()
	count := w.pastes.CountActive
	for i := range 1300 { // more than two batches of the sweeper expire
		life := "never"
		if i >= 100 {
			life = "1h"
		}
		w.paste(t, "", life)
	}
	counted := func(want int64) {
		t.Helper()
		if got, err := count.Do(t.Context()); err != nil || got != want {
			t.Errorf("%d, %v, want %d", got, err, want)
		}
	}
	counted(1300)
	w.now = w.now.Add(time.Hour)
	counted(100)
	sweep := w.pastes.Sweep
	w.now = w.now.Add(sweepGrace - 1)
	if removed, err := sweep.Do(t.Context()); removed != 0 || err != nil {
		t.Errorf("got %d removed within the grace, error %v, want none", removed, err)
	}
	w.now = w.now.Add(1)
	if removed, err := sweep.Do(t.Context()); removed != 1200 || err != nil {
		t.Errorf("got %d removed, error %v, want 1200", removed, err)
	}
	counted(100)
	_, err := w.pastes.Create.Do(t.Context(), audit.Operator(), "nobody", snippet("x"))
	wantKind(t, "nobody's paste", err, fault.NotFound)
}

// tongues knows two languages.
type tongues map[string]*language.Language

func (f tongues) find(kind, key string) (*language.Language, bool) {
	found, ok := f[kind+key]
	return found, ok
}

func (f tongues) All() []*language.Language                         { return slices.Collect(maps.Values(f)) }
func (f tongues) ByName(s string) (*language.Language, bool)        { return f.find("name ", s) }
func (f tongues) ByExtension(s string) (*language.Language, bool)   { return f.find("extension ", s) }
func (f tongues) ByFilename(s string) (*language.Language, bool)    { return f.find("file ", s) }
func (f tongues) ByInterpreter(s string) (*language.Language, bool) { return f.find("program ", s) }
func (f tongues) Detect(s string) (*language.Language, bool)        { return f.find("code ", s) }

func TestLanguages(t *testing.T) {
	t.Parallel()
	one, two := &language.Language{Name: "one"}, &language.Language{Name: "two"}
	known := tongues{
		"name one": one, "name two": two, "name uno": one,
		"extension X": one, "extension x": two, "extension Y": one,
	}
	byName, byExtension := languages.New(known).FindByName, languages.New(known).FindByExtension
	for want, readings := range map[*language.Language][][]string{
		one: {{"one"}, {"uno"}, {"nothing", "one"}},
		two: {{"two"}, {"two", "uno"}},
	} {
		for _, r := range readings {
			if found, err := byName.Do(r...); err != nil || found != want {
				t.Errorf("%q: got %v, error %v, want %v", r, found, err, want)
			}
		}
	}
	for extension, want := range map[string]*language.Language{"X": one, ".X": one, "x": two, "Y": one, ".Y": one} {
		if found, err := byExtension.Do(extension); err != nil || found != want {
			t.Errorf("%q: got %v, error %v, want %v", extension, found, err, want)
		}
	}
	for _, readings := range [][]string{nil, {""}, {"", "one"}} {
		_, err := byName.Do(readings...)
		wantKind(t, "no name", err, fault.Invalid)
		_, err = byExtension.Do(readings...)
		wantKind(t, "no extension", err, fault.Invalid)
	}
	for _, text := range []string{"nothing", ".", "..X"} {
		_, err := byName.Do(text)
		wantKind(t, text, err, fault.NotFound)
		_, err = byExtension.Do(text)
		wantKind(t, text, err, fault.NotFound)
	}
}

// hangingPastes is a database that does not answer.
type hangingPastes struct{ paste.Store }

func (hangingPastes) RemoveExpired(ctx context.Context, _ time.Duration, _ int) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// hangingTokens is another one.
type hangingTokens struct{ token.Store }

func (hangingTokens) SetLastUsed(ctx context.Context, _ map[token.ID]time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestSweepOfHangingDatabase ends by itself: no caller cancels a sweep.
func TestSweepOfHangingDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sweep := pastes.New(hangingPastes{}, nil, pastes.Options{SweepGrace: time.Minute}, time.Now).Sweep
		if removed, err := sweep.Do(context.Background()); removed != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %d removed, error %v, want none and %v", removed, err, context.DeadlineExceeded)
		}
	})
}

// heavyPastes are expired pastes, each of which takes so long to remove: many are light, then some have a long history.
type heavyPastes struct {
	paste.Store

	left  []time.Duration
	holds []time.Duration // how long others waited
}

func (h *heavyPastes) RemoveExpired(ctx context.Context, _ time.Duration, limit int) (int, error) {
	began, n := time.Now(), min(limit, len(h.left))
	defer func() { h.holds = append(h.holds, time.Since(began)) }()
	for _, cost := range h.left[:n] {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(cost):
		}
	}
	h.left = h.left[n:]
	return n, nil
}

func (*heavyPastes) FinishDeletions(context.Context, int) (int, error) { return 0, nil }

func (*heavyPastes) ForgetClients(context.Context, int) (int, error) { return 0, nil }

func (*heavyPastes) PurgeRemoved(context.Context, time.Duration, int) (int, error) { return 0, nil }

func (*heavyPastes) ForgetOrigins(context.Context, time.Duration, int) (int, error) { return 0, nil }

// TestSweepOfHeavyPastes gets on, and makes its batches small where pastes take long.
func TestSweepOfHeavyPastes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heavy := &heavyPastes{left: append(slices.Repeat([]time.Duration{50 * time.Microsecond}, 20_000),
			slices.Repeat([]time.Duration{150 * time.Millisecond}, 700)...)}
		sweep := pastes.New(heavy, nil, pastes.Options{}, time.Now).Sweep
		began := time.Now()
		removed, err := sweep.Do(context.Background())
		slices.Sort(heavy.holds)
		longest := heavy.holds[len(heavy.holds)-1]
		t.Logf("%d removed in %v; others waited for up to %v", removed, time.Since(began), longest)
		if removed != 20_700 || err != nil || longest > 10*time.Second {
			t.Errorf("got %d removed, error %v, others waiting for %v, want 20700 and at most 10 s", removed, err, longest)
		}
		if second := heavy.holds[len(heavy.holds)-2]; second > 3*time.Second {
			t.Errorf("got others waiting for %v, want one batch at most that was too much", second)
		}
	})
}

// expiringPastes are expired pastes.
type expiringPastes struct {
	paste.Store

	left    int
	removal time.Duration // of one

	began time.Time
	busy  time.Duration // what removing took
}

func (e *expiringPastes) RemoveExpired(_ context.Context, _ time.Duration, limit int) (int, error) {
	n := min(limit, e.left)
	took := time.Duration(n)*e.removal + time.Millisecond
	time.Sleep(took)
	e.busy += took
	e.left -= n
	return n, nil
}

func (*expiringPastes) FinishDeletions(context.Context, int) (int, error) { return 0, nil }

func (*expiringPastes) ForgetClients(context.Context, int) (int, error) { return 0, nil }

func (*expiringPastes) PurgeRemoved(context.Context, time.Duration, int) (int, error) { return 0, nil }

func (*expiringPastes) ForgetOrigins(context.Context, time.Duration, int) (int, error) { return 0, nil }

// TestSweepLeavesTheDatabaseToOthers takes half of the time for pastes that expire together, and is quick nevertheless.
func TestSweepLeavesTheDatabaseToOthers(t *testing.T) {
	const expired, most = 300_000, 2 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		expiring := &expiringPastes{left: expired, removal: 150 * time.Microsecond, began: time.Now()}
		sweep := pastes.New(expiring, nil, pastes.Options{}, time.Now).Sweep
		removed, err := sweep.Do(t.Context())
		took := time.Since(expiring.began)
		t.Logf("%d removed in %v, busy for %v", removed, took, expiring.busy)
		if removed != expired || err != nil || took > most || 2*expiring.busy > took+time.Second {
			t.Errorf("got %d removed in %v, busy for %v, error %v, want %d within %v, half of it busy",
				removed, took, expiring.busy, err, expired, most)
		}
	})
}

// TestSweepEndsWhenTold ends in its rest, however long that is.
func TestSweepEndsWhenTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		expiring := &expiringPastes{left: 1000, removal: time.Second, began: time.Now()} // 8 s for a batch, and as much rest
		sweep := pastes.New(expiring, nil, pastes.Options{}, time.Now).Sweep
		const soon = 10 * time.Second
		time.AfterFunc(soon, cancel)
		removed, err := sweep.Do(ctx)
		if took := time.Since(expiring.began); removed == 0 || !errors.Is(err, context.Canceled) || took != soon {
			t.Errorf("got %d removed in %v, error %v, want some, and %v after %v", removed, took, err, context.Canceled, soon)
		}
	})
}

// TestPendingUses are those that are not stored, also while they are being stored.
func TestPendingUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uses := tokens.New(hangingTokens{}, nil, time.Now).Uses
		uses.RecordUse("first", time.Now())
		ctx, cancel := context.WithCancel(context.Background())
		failed := make(chan error)
		go func() { failed <- uses.Do(ctx) }()
		synctest.Wait() // for the store
		uses.RecordUse("second", time.Now())
		if pending := uses.Pending(); pending != 2 {
			t.Errorf("got %d tokens while storing, want 2", pending)
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) || uses.Pending() != 2 {
			t.Errorf("got %d tokens afterwards, error %v, want 2 and %v", uses.Pending(), err, context.Canceled)
		}
	})
}
