// Package application tests the rules of the use cases over a store in memory and a clock that stands still.
package application

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/fake"
)

// world is the modules over one store with a clock.
type world struct {
	users  *users.UseCases
	tokens *tokens.UseCases
	pastes *pastes.UseCases
	stats  *stats.UseCases

	userStore  fake.Users
	tokenStore fake.Tokens
	pasteStore fake.Pastes
	signIn     *token.Authenticator
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
	w.signIn = token.NewAuthenticator(w.tokens.Uses, w.clock)
	w.users = users.New(w.userStore, w.tokenStore, w.signIn, w.clock)
	w.pastes = pastes.New(w.pasteStore, w.userStore, w.tokenStore, w.signIn, pasteOptions, w.clock)
	w.stats = stats.New(fake.Stats{Store: store})
	return w
}

func (w *world) clock() time.Time { return w.now }

func wantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: got %v, want an error of kind %v", what, err, kind)
	}
}

func (w *world) user(t *testing.T, wanted users.CreateInput) {
	t.Helper()
	if _, err := w.users.Create.Do(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
}

func TestPrivateProfilesLookLikeNobody(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "Open", PublicProfile: true})
	w.user(t, users.CreateInput{Name: "Shut"})
	show, exists := w.users.ShowProfile, w.users.CheckExists
	if found, err := show.Do(t.Context(), "oPEN"); err != nil || found.Name.String() != "Open" || found.DefaultLanguage != "Autodetect" {
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
	issue, self := w.tokens.Issue, w.users.ShowSelf
	own := w.pastes.ListOwn
	issued, secret, err := issue.Do(t.Context(), "OWNER", "laptop", time.Hour)
	if err != nil || !token.Genuine(secret.Reveal()) || issued.ExpiresAt != w.now.Add(time.Hour) {
		t.Fatalf("got %+v, error %v, want a genuine token for an hour", issued, err)
	}
	ask := func(text string) error {
		_, first := self.Do(t.Context(), text)
		second := own.Do(t.Context(), text, func(paste.ID) error { return nil })
		_, third := w.pastes.BrowseOwn.Do(t.Context(), text, paste.Place{})
		if fault.KindOf(first) != fault.KindOf(second) || fault.KindOf(first) != fault.KindOf(third) {
			t.Errorf("got %v, %v and %v, want the same kind", first, second, third)
		}
		return first
	}
	if err := ask(secret.Reveal()); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "unknown", "\x00", strings.Repeat("x", 513), secret.Reveal() + "x"} {
		wantKind(t, fmt.Sprintf("%.20q", text), ask(text), fault.Unauthenticated)
	}
	if _, err := uses.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, _ := w.tokenStore.ByHash(t.Context(), secret.Hash()); found.LastUsedAt != w.now {
		t.Errorf("got the last use %v, want %v", found.LastUsedAt, w.now)
	}
	w.now = w.now.Add(time.Hour)
	wantKind(t, "at the instant of expiry", ask(secret.Reveal()), fault.Unauthenticated)
	for what, err := range map[string]error{
		"negative time":    second(issue.Do(t.Context(), "owner", "", -1)),
		"unprintable name": second(issue.Do(t.Context(), "owner", "\n", 0)),
	} {
		wantKind(t, what, err, fault.Invalid)
	}
	wantKind(t, "nobody's token", second(issue.Do(t.Context(), "nobody", "", 0)), fault.NotFound)
}

func second[A, B any](_ A, _ B, err error) error { return err }

// failing stores nothing until it is told to.
type failing struct {
	fake.Tokens
	fail bool
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
	issued, secret, err := w.tokens.Issue.Do(t.Context(), "owner", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	store := &failing{Tokens: w.tokenStore, fail: true}
	uses := tokens.New(store, w.userStore, w.clock).Uses
	uses.RecordUse(issued.ID, w.now.Add(time.Minute))
	uses.RecordUse(issued.ID, w.now)
	_, err = uses.Do(t.Context())
	wantKind(t, "outage", err, fault.Unavailable)
	store.fail = false
	if _, err := uses.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, _ := w.tokenStore.ByHash(t.Context(), secret.Hash()); found.LastUsedAt != w.now.Add(time.Minute) {
		t.Errorf("got the last use %v, want %v", found.LastUsedAt, w.now.Add(time.Minute))
	}
}

func TestCountAndSweep(t *testing.T) {
	t.Parallel()
	w := newWorld()
	create, count := w.pastes.Create, w.pastes.CountActive
	for i := range 1300 { // more than two batches of the sweeper expire
		life := time.Duration(0)
		if i >= 100 {
			life = time.Minute
		}
		if _, err := create.Do(t.Context(), "", life, snippet("x")); err != nil {
			t.Fatal(err)
		}
	}
	counted := func(want int64) {
		t.Helper()
		if got, err := count.Do(t.Context()); err != nil || got != want {
			t.Errorf("%d, %v, want %d", got, err, want)
		}
	}
	counted(1300)
	w.now = w.now.Add(time.Minute)
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
	_, err := create.Do(t.Context(), "", -1, snippet("x"))
	wantKind(t, "negative time", err, fault.Invalid)
	_, err = create.Do(t.Context(), "nobody", 0, snippet("x"))
	wantKind(t, "nobody's paste", err, fault.NotFound)
	wantKind(t, "odd id", w.pastes.Star.Do(t.Context(), "nobody", "x"), fault.NotFound)
}

// tongues knows two languages, one of which has the other's name as an alias.
type tongues map[string]*language.Language

func (f tongues) find(kind, key string) (*language.Language, bool) {
	found, ok := f[kind+key]
	return found, ok
}

func (f tongues) All() []*language.Language                             { return slices.Collect(maps.Values(f)) }
func (f tongues) ByName(s string) (*language.Language, bool)            { return f.find("name ", s) }
func (f tongues) ByAlias(s string) (*language.Language, bool)           { return f.find("alias ", s) }
func (f tongues) ByExtension(s string) (*language.Language, bool)       { return f.find("exact ", s) }
func (f tongues) ByFoldedExtension(s string) (*language.Language, bool) { return f.find("any ", s) }

func (f tongues) ByFilename(s string) (*language.Language, bool) { return f.find("file ", s) }
func (f tongues) Detect(s string) (*language.Language, bool)     { return f.find("code ", s) }

func TestLanguages(t *testing.T) {
	t.Parallel()
	one, two := &language.Language{Name: "one"}, &language.Language{Name: "two"}
	known := tongues{
		"name one": one, "name two": two, "alias two": one, "alias uno": one,
		"exact X": one, "exact x": two, "any X": two, "any x": two, "any Y": one,
	}
	byName, byExtension := languages.New(known).FindByName, languages.New(known).FindByExtension
	for want, readings := range map[*language.Language][][]string{
		one: {{"one"}, {"uno"}, {"nothing", "one"}},
		two: {{"two"}, {"uno", "two"}},
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

// shelf accepts every paste but one, and remembers how large the batches were.
type shelf struct{ batches []int }

func (s *shelf) Import(_ context.Context, pastes []paste.Document, _ paste.Orphans) ([]batch.Result, error) {
	s.batches = append(s.batches, len(pastes))
	results := make([]batch.Result, len(pastes))
	for i, p := range pastes {
		switch p.ID {
		case "outage":
			return nil, fault.New(fault.Unavailable, "x")
		case "refused":
			results[i].Err = fault.New(fault.NotFound, "refused")
		case "known":
			results[i].Outcome = batch.Unchanged
		}
	}
	return results, nil
}

func importerOf(store paste.Importer) *imports.Pastes {
	return imports.New(nil, nil, store, time.Now).Pastes
}

func records(ids ...string) imports.Source[imports.Paste] {
	return func(context.Context) imports.Records[imports.Paste] {
		return func(yield func(imports.Record[imports.Paste], error) bool) {
			for i, id := range ids {
				record := imports.Record[imports.Paste]{Value: imports.Paste{ID: id, CreatedAt: 1}, Line: i + 1, Raw: []byte(id)}
				if id == "broken" {
					record.Err = fault.New(fault.Invalid, "broken")
				}
				if id == "unreadable" {
					yield(imports.Record[imports.Paste]{}, errors.New("disk"))
					return
				}
				if !yield(record, nil) {
					return
				}
			}
		}
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	var rejected []string
	reject := func(line int, raw []byte, reason error) error {
		rejected = append(rejected, fmt.Sprint(line, " ", string(raw), " ", reason))
		return nil
	}
	many := make([]string, 2500)
	for i := range many {
		many[i] = fmt.Sprint("id", i)
	}
	s := new(shelf)
	source := records(append(many, "known", "broken", "refused", "odd id")...)
	summary, err := importerOf(s).Do(t.Context(), source, paste.RefuseOrphans, reject)
	if want := (imports.Summary{Read: 2504, New: 2500, Unchanged: 1, Rejected: 3}); err != nil || summary != want {
		t.Errorf("got %+v, error %v, want %+v", summary, err, want)
	}
	if !slices.Equal(s.batches, []int{2000, 502}) {
		t.Errorf("got batches of %v, want 2000 and 502", s.batches)
	}
	slices.Sort(rejected)
	if len(rejected) != 3 || rejected[0] != "2502 broken broken" || rejected[1] != "2503 refused refused" ||
		!strings.HasPrefix(rejected[2], "2504 odd id The paste id") {
		t.Errorf("got %q rejected, want 2502 broken, 2503 refused and 2504 odd id", rejected)
	}
	if _, err := importerOf(s).Do(t.Context(), records("a", "outage"), paste.RefuseOrphans, reject); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	if _, err := importerOf(s).Do(t.Context(), records("a", "unreadable"), paste.RefuseOrphans, reject); err == nil || err.Error() != "disk" {
		t.Error(err)
	}
	full := errors.New("disk full")
	if _, err := importerOf(s).Do(t.Context(), records("broken", "a"), paste.RefuseOrphans, func(int, []byte, error) error {
		return full
	}); !errors.Is(err, full) {
		t.Error(err)
	}
}

// hangingPastes is a database that does not answer.
type hangingPastes struct{ pastes.Store }

func (hangingPastes) RemoveExpired(ctx context.Context, _ time.Duration, _ int) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// hangingTokens is another one.
type hangingTokens struct{ tokens.Store }

func (hangingTokens) SetLastUsed(ctx context.Context, _ map[token.ID]time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestSweepOfHangingDatabase ends by itself: the sweeper has nobody who would give up for it.
func TestSweepOfHangingDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sweep := pastes.New(hangingPastes{}, nil, nil, nil, pastes.Options{SweepGrace: time.Minute}, time.Now).Sweep
		if removed, err := sweep.Do(context.Background()); removed != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %d removed, error %v, want none and %v", removed, err, context.DeadlineExceeded)
		}
	})
}

// heavyPastes are expired pastes, each of which takes so long to remove: many are light, then some have a long history.
type heavyPastes struct {
	pastes.Store

	left    []time.Duration
	longest time.Duration // that others waited
}

func (h *heavyPastes) RemoveExpired(ctx context.Context, _ time.Duration, limit int) (int, error) {
	began, n := time.Now(), min(limit, len(h.left))
	defer func() { h.longest = max(h.longest, time.Since(began)) }()
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

func (*heavyPastes) ForgetClients(context.Context, int) (int, error) { return 0, nil }

// TestSweepOfHeavyPastes gets on, and lets others write meanwhile.
func TestSweepOfHeavyPastes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heavy := &heavyPastes{left: append(slices.Repeat([]time.Duration{50 * time.Microsecond}, 20_000),
			slices.Repeat([]time.Duration{150 * time.Millisecond}, 700)...)}
		sweep := pastes.New(heavy, nil, nil, nil, pastes.Options{}, time.Now).Sweep
		began := time.Now()
		removed, err := sweep.Do(context.Background())
		t.Logf("%d removed in %v; others waited for up to %v", removed, time.Since(began), heavy.longest)
		if removed != 20_700 || err != nil || heavy.longest > 2*time.Second {
			t.Errorf("got %d removed, error %v, others waiting for %v, want 20700 and at most 2 s", removed, err, heavy.longest)
		}
	})
}

// expiringPastes are expired pastes, of which there are more every second, and one node's turn in the other's rests.
type expiringPastes struct {
	pastes.Store

	left    int           // when it began
	expire  int           // a second
	removal time.Duration // of one
	meets   int           // after so many batches another node has the lock; 0: never

	began   time.Time
	batches int
	busy    time.Duration // what removing took
}

func (e *expiringPastes) RemoveExpired(_ context.Context, _ time.Duration, limit int) (int, error) {
	if e.batches++; e.meets > 0 && e.batches%e.meets == 0 {
		return 0, nil
	}
	n := min(limit, e.backlog())
	took := time.Duration(n)*e.removal + time.Millisecond
	time.Sleep(took)
	e.busy += took
	e.left -= n
	return n, nil
}

func (e *expiringPastes) backlog() int { return e.left + e.expire*int(time.Since(e.began)/time.Second) }

func (*expiringPastes) ForgetClients(context.Context, int) (int, error) { return 0, nil }

// TestSweepLeavesTheDatabaseToOthers takes a quarter of the time for a million pastes, within the hour.
func TestSweepLeavesTheDatabaseToOthers(t *testing.T) {
	const million = 1_000_000
	synctest.Test(t, func(t *testing.T) {
		expiring := &expiringPastes{left: million, removal: 150 * time.Microsecond, began: time.Now()}
		sweep := pastes.New(expiring, nil, nil, nil, pastes.Options{}, time.Now).Sweep
		removed, err := sweep.Do(t.Context())
		took := time.Since(expiring.began)
		t.Logf("%d removed in %v, busy for %v", removed, took, expiring.busy)
		if removed != million || err != nil || took > time.Hour || 4*expiring.busy > took+time.Second {
			t.Errorf("got %d removed in %v, busy for %v, error %v, want a million within an hour, a quarter of it busy",
				removed, took, expiring.busy, err)
		}
	})
}

// TestSweepCatchesUp goes more quickly when more expires than that removes, also where nodes step aside for each other, and takes its
// time again for what expires later.
func TestSweepCatchesUp(t *testing.T) {
	const removal = 5 * time.Millisecond // 50 pastes a second with the rests
	synctest.Test(t, func(t *testing.T) {
		expiring := &expiringPastes{expire: 60, removal: removal, meets: 1000, began: time.Now()}
		sweep := pastes.New(expiring, nil, nil, nil, pastes.Options{}, time.Now).Sweep
		const few = 60
		most := 0
		for left := few; left >= few; {
			time.Sleep(time.Minute)
			if _, err := sweep.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			left = expiring.backlog()
			most = max(most, left)
			if time.Since(expiring.began) > 3*time.Hour {
				t.Fatalf("got a backlog of %d after three hours, want none", left)
			}
		}
		t.Logf("caught up with %d in %v", most, time.Since(expiring.began))
		if time.Since(expiring.began) < time.Hour {
			t.Error("it has caught up within the hour, so that this shows nothing")
		}
		expiring.left, expiring.expire, expiring.meets = 0, 0, 0
		for range 60 {
			time.Sleep(time.Minute)
			if _, err := sweep.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		expiring.busy, expiring.left, expiring.began = 0, 1000, time.Now()
		if _, err := sweep.Do(t.Context()); err != nil || 4*expiring.busy > time.Since(expiring.began)+time.Second {
			t.Errorf("got %v busy of %v afterwards, error %v, want a quarter", expiring.busy, time.Since(expiring.began), err)
		}
	})
}

// sharedPastes are those that two nodes take turns at: a hundred expire every second.
type sharedPastes struct {
	pastes.Store

	began   time.Time
	removed atomic.Int64
	locked  atomic.Bool
}

func (s *sharedPastes) backlog() int {
	return 100*int(time.Since(s.began)/time.Second) - int(s.removed.Load())
}

func (s *sharedPastes) RemoveExpired(_ context.Context, _ time.Duration, limit int) (int, error) {
	if !s.locked.CompareAndSwap(false, true) {
		return 0, nil
	}
	defer s.locked.Store(false)
	n := min(limit, s.backlog())
	time.Sleep(time.Duration(n)*5*time.Millisecond + time.Millisecond)
	s.removed.Add(int64(n))
	return n, nil
}

func (*sharedPastes) ForgetClients(context.Context, int) (int, error) { return 0, nil }

// TestSweepsThatAreRareCatchUp has two nodes take turns, each of which sees nothing of a backlog while the other is at it.
func TestSweepsThatAreRareCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Hour)
		defer cancel()
		shared := &sharedPastes{began: time.Now()}
		var nodes sync.WaitGroup
		for range 2 {
			sweep := pastes.New(shared, nil, nil, nil, pastes.Options{}, time.Now).Sweep
			nodes.Go(func() {
				for ctx.Err() == nil {
					_, _ = sweep.Do(ctx)
					time.Sleep(15 * time.Minute)
				}
			})
			time.Sleep(time.Second)
		}
		least := math.MaxInt
		for since := time.Now(); time.Since(since) < 10*time.Hour; time.Sleep(time.Minute) {
			if time.Since(since) > 2*time.Hour {
				least = min(least, shared.backlog())
			}
		}
		left := shared.backlog()
		t.Logf("a backlog of %d after ten hours, and of %d once", left, least)
		if perHour := 100 * 3600; least > perHour/4 || left > 2*perHour {
			t.Errorf("got a backlog of %d after ten hours, and no less than %d before, want it removed now and then", left, least)
		}
		cancel()
		nodes.Wait()
	})
}

// TestSweepEndsWhenTold ends in its rest, however long that is.
func TestSweepEndsWhenTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		expiring := &expiringPastes{left: 1000, removal: time.Second, began: time.Now()} // 8 s for a batch, and 24 s of rest
		sweep := pastes.New(expiring, nil, nil, nil, pastes.Options{}, time.Now).Sweep
		const soon = 10 * time.Second
		time.AfterFunc(soon, cancel)
		removed, err := sweep.Do(ctx)
		if took := time.Since(expiring.began); removed == 0 || !errors.Is(err, context.Canceled) || took != soon {
			t.Errorf("got %d removed in %v, error %v, want some, and %v after %v", removed, took, err, context.Canceled, soon)
		}
	})
}

// TestPendingUses are those that are not stored, also while somebody tries to.
func TestPendingUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uses := tokens.New(hangingTokens{}, nil, time.Now).Uses
		uses.RecordUse("first", time.Now())
		ctx, cancel := context.WithCancel(context.Background())
		failed := make(chan error)
		go func() {
			_, err := uses.Do(ctx)
			failed <- err
		}()
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
