package tokens_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/fake"
	"github.com/gluepot/gluepot/tests/modules"
)

func TestListingTokens(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	list := m.Tokens.List
	if got, err := list.Do(t.Context(), audit.Operator(), "owner"); err != nil || got == nil || len(got) != 0 {
		t.Errorf("got %#v, %v, want an empty list", got, err)
	}
	first := m.IssueToken(t, "owner")
	m.Now = m.Now.Add(time.Minute)
	second := m.IssueToken(t, "owner")
	got, err := list.Do(t.Context(), audit.Operator(), "OWNER")
	if err != nil || len(got) != 2 || got[0].Hash != first.Hash() || got[1].Hash != second.Hash() {
		t.Errorf("got %+v, %v, want both, the oldest first", got, err)
	}
	_, err = list.Do(t.Context(), audit.Operator(), "nobody")
	modules.WantKind(t, "nobody", err, fault.NotFound)
	_, err = list.Do(t.Context(), audit.Operator(), "no body")
	modules.WantKind(t, "an impossible name", err, fault.Invalid)
}

func TestARevokedTokenOpensNothing(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	secret, revoke := m.IssueToken(t, "owner"), m.Tokens.Revoke
	signIn := m.Tokens.SignIn
	if _, err := signIn.Do(t.Context(), secret.Reveal()); err != nil {
		t.Error(err)
	}
	tok, _, err := m.TokenStore.ByHash(t.Context(), secret.Hash())
	if err != nil {
		t.Fatal(err)
	}
	if err := revoke.Do(t.Context(), audit.Operator(), string(tok.ID)); err != nil {
		t.Error(err)
	}
	_, err = signIn.Do(t.Context(), secret.Reveal())
	modules.WantKind(t, "a revoked token", err, fault.Unauthenticated)
	if err := revoke.Do(t.Context(), audit.Operator(), string(tok.ID)); err != nil {
		t.Errorf("got %v the second time, want nothing changed and no error", err)
	}
	for _, id := range []string{"unknown", "", "\x00"} {
		modules.WantKind(t, "the id "+id, revoke.Do(t.Context(), audit.Operator(), id), fault.NotFound)
	}
}

// TestSessionAges checks that a session lasts for 30 days from its last use, and for 180 at most.
func TestSessionAges(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for what, c := range map[string]struct {
		every time.Duration // between uses
		days  int
	}{"in use": {29 * day, 174}, "too seldom": {30 * day, 0}, "all the time": {day, 179}} {
		m := modules.New()
		m.CreateUser(t, users.CreateInput{Name: "ann"})
		secret, err := m.Tokens.Sessions.Start(
			t.Context(),
			modules.By(token.Viewer{}),
			m.Session(t, "ann").User.ID,
			token.Token{},
			"a browser",
			"",
		)
		if err != nil {
			t.Fatal(err)
		}
		start, last := m.Now, 0
		for range 200 {
			m.Now = m.Now.Add(c.every)
			if _, err := m.Tokens.SignIn.Resume(t.Context(), secret.Reveal()); err != nil {
				modules.WantKind(t, what, err, fault.Unauthenticated)
				break
			}
			if err := m.Tokens.Uses.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			last = int(m.Now.Sub(start) / day)
		}
		if last != c.days {
			t.Errorf("%s: got a session of %d days, want %d", what, last, c.days)
		}
	}
}

func TestOwnTokensAreBounded(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	viewer := m.SignIn(t, "owner") // by a token
	for range 999 {
		if _, _, err := m.Tokens.Issue.Own(t.Context(), modules.By(viewer), tokens.IssueInput{}); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := m.Tokens.Issue.Own(t.Context(), modules.By(viewer), tokens.IssueInput{})
	modules.WantKind(t, "one more", err, fault.Forbidden)
	m.IssueToken(t, "owner") // by the operator
}

func TestTokensOpenAccounts(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	uses := m.Tokens.Uses
	issue, signIn := m.Tokens.Issue, m.Tokens.SignIn
	issued, secret, err := issue.Do(t.Context(), audit.Operator(), "OWNER",
		tokens.IssueInput{Name: "laptop", ExpiresIn: time.Hour})
	if err != nil || !strings.HasPrefix(secret.Reveal(), token.Prefix) || issued.ExpiresAt != m.Now.Add(time.Hour) {
		t.Fatalf("got %+v, error %v, want a token with the prefix, for an hour", issued, err)
	}
	ask := func(text string) error {
		viewer, first := signIn.Do(t.Context(), text)
		if viewer.SignedIn() != (first == nil) || first == nil &&
			(viewer.User.ID != issued.Owner || viewer.Token.ID != issued.ID) {
			t.Errorf("got %+v, error %v, want the owner, or nobody and an error", viewer, first)
		}
		account, second := m.Users.ShowSelf.Do(t.Context(), viewer)
		if account.User != viewer.User {
			t.Errorf("got the account of %+v, want of %+v", account.User, viewer.User)
		}
		third := m.Pastes.ListOwn.Do(t.Context(), viewer, func([]paste.ID) error { return nil })
		_, fourth := m.Pastes.Browse.Own(t.Context(), viewer, paste.Selection{})
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
		modules.WantKind(t, fmt.Sprintf("%.20q", text), ask(text), fault.Unauthenticated)
	}
	if err := uses.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tok, _, _ := m.TokenStore.ByHash(t.Context(), secret.Hash()); tok.LastUsedAt != m.Now {
		t.Errorf("got the last use %v, want %v", tok.LastUsedAt, m.Now)
	}
	m.Now = m.Now.Add(time.Hour)
	modules.WantKind(t, "at the instant of expiry", ask(secret.Reveal()), fault.Unauthenticated)
	for what, err := range map[string]error{
		"negative time":    errorOf(issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{ExpiresIn: -1})),
		"unprintable name": errorOf(issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{Name: "\n"})),
	} {
		modules.WantKind(t, what, err, fault.Invalid)
	}
	modules.WantKind(t, "nobody's token", errorOf(issue.Do(t.Context(), audit.Operator(), "nobody", tokens.IssueInput{})),
		fault.NotFound)
}

func errorOf[A, B any](_ A, _ B, err error) error { return err }

// TestNoSecretOfATokenThatIsNotStored checks that no secret is returned if the store fails.
func TestNoSecretOfATokenThatIsNotStored(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	issue := tokens.New(&failingTokens{Tokens: m.TokenStore, fail: true}, m.UserStore, m.Clock).Issue
	issued, secret, err := issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{})
	modules.WantKind(t, "a store that fails", err, fault.Unavailable)
	if issued != (token.Token{}) || secret != (token.Secret{}) {
		t.Errorf("got the token %+v and the secret %q, want neither", issued, secret.Reveal())
	}
}

// failingTokens is a store that fails while fail is set.
type failingTokens struct {
	fake.Tokens
	fail bool
}

func (f *failingTokens) Create(ctx context.Context, _ netip.Addr, _ auditlog.Entry, created token.Token) error {
	if f.fail {
		return fault.New(fault.Unavailable, "x")
	}
	return f.Tokens.Create(ctx, netip.Addr{}, auditlog.Entry{}, created)
}

func (f *failingTokens) SetLastUsed(ctx context.Context, uses map[token.ID]time.Time) error {
	if f.fail {
		return fault.New(fault.Unavailable, "x")
	}
	return f.Tokens.SetLastUsed(ctx, uses)
}

func TestUsesSurviveAnOutage(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	issued, secret, err := m.Tokens.Issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{})
	if err != nil {
		t.Fatal(err)
	}
	store := &failingTokens{Tokens: m.TokenStore, fail: true}
	uses := tokens.New(store, m.UserStore, m.Clock).Uses
	uses.RecordUse(issued.ID, m.Now.Add(time.Minute))
	uses.RecordUse(issued.ID, m.Now)
	modules.WantKind(t, "outage", uses.Do(t.Context()), fault.Unavailable)
	store.fail = false
	if err := uses.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tok, _, _ := m.TokenStore.ByHash(t.Context(), secret.Hash()); tok.LastUsedAt != m.Now.Add(time.Minute) {
		t.Errorf("got the last use %v, want %v", tok.LastUsedAt, m.Now.Add(time.Minute))
	}
}

// hangingTokens is a store that does not answer.
type hangingTokens struct{ token.Store }

func (hangingTokens) SetLastUsed(ctx context.Context, _ map[token.ID]time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestPendingUses checks that uses are pending until they are stored.
func TestPendingUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uses := tokens.New(hangingTokens{}, nil, time.Now).Uses
		uses.RecordUse("first", time.Now())
		ctx, cancel := context.WithCancel(context.Background())
		errs := make(chan error)
		go func() { errs <- uses.Do(ctx) }()
		synctest.Wait() // for the store
		uses.RecordUse("second", time.Now())
		if pending := uses.Pending(); pending != 2 {
			t.Errorf("got %d tokens while storing, want 2", pending)
		}
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) || uses.Pending() != 2 {
			t.Errorf("got %d tokens afterwards, error %v, want 2 and %v", uses.Pending(), err, context.Canceled)
		}
	})
}

// TestUsesAreBounded records more uses during an outage than are remembered.
func TestUsesAreBounded(t *testing.T) {
	t.Parallel()
	const used, most = 150_000, 100_000
	m := modules.New()
	store := &failingTokens{Tokens: m.TokenStore, fail: true}
	uses := tokens.New(store, m.UserStore, m.Clock).Uses
	for i := range used {
		uses.RecordUse(token.ID(strconv.Itoa(i)), m.Now)
		if i == used/2 { // a failed attempt loses nothing, and counts nothing twice
			modules.WantKind(t, "outage", uses.Do(t.Context()), fault.Unavailable)
		}
	}
	uses.RecordUse("0", m.Now.Add(1)) // one of those that are remembered
	store.fail = false
	if pending := uses.Pending(); pending != most {
		t.Errorf("got %d tokens waiting, want %d", pending, most)
	}
	if err := uses.Do(t.Context()); err != nil || uses.Pending() != 0 {
		t.Errorf("got %d waiting, error %v, want none", uses.Pending(), err)
	}
}

// TestOwnTokensAndSessions checks that viewers list their own, also with a read-only token, and visitors nothing.
func TestOwnTokensAndSessions(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "epoxy"})
	viewer := m.SignIn(t, "epoxy")
	viewer.Token.Scope = token.Read
	if list, err := m.Tokens.List.Own(t.Context(), viewer); err != nil || len(list) != 1 {
		t.Errorf("got %v, error %v, want the one token", list, err)
	}
	if list, err := m.Tokens.Sessions.ListOwn(t.Context(), viewer); err != nil || len(list) != 0 {
		t.Errorf("got %v, error %v, want no session", list, err)
	}
	_, tokensErr := m.Tokens.List.Own(t.Context(), token.Viewer{})
	_, sessionsErr := m.Tokens.Sessions.ListOwn(t.Context(), token.Viewer{})
	if !fault.Is(tokensErr, fault.Unauthenticated) || !fault.Is(sessionsErr, fault.Unauthenticated) {
		t.Errorf("a visitor: got %v and %v, want both refused", tokensErr, sessionsErr)
	}
}
