package application

import (
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// visitor is a viewer who has not signed in.
var visitor token.Viewer

// token issues a token that never expires.
func (w *world) token(t *testing.T, owner string) token.Secret {
	t.Helper()
	_, secret, err := w.tokens.Issue.Do(t.Context(), audit.Operator(), owner, tokens.IssueInput{Name: "a token"})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// viewer signs a user in.
func (w *world) viewer(t *testing.T, name string) token.Viewer {
	t.Helper()
	viewer, err := w.tokens.SignIn.Do(t.Context(), w.token(t, name).Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return viewer
}

func TestListingTokens(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	list := w.tokens.List
	if listed, err := list.Do(t.Context(), audit.Operator(), "owner"); err != nil || listed == nil || len(listed) != 0 {
		t.Errorf("got %#v, %v, want an empty list", listed, err)
	}
	first := w.token(t, "owner")
	w.now = w.now.Add(time.Minute)
	second := w.token(t, "owner")
	listed, err := list.Do(t.Context(), audit.Operator(), "OWNER")
	if err != nil || len(listed) != 2 || listed[0].Hash != first.Hash() || listed[1].Hash != second.Hash() {
		t.Errorf("got %+v, %v, want both, the oldest first", listed, err)
	}
	_, err = list.Do(t.Context(), audit.Operator(), "nobody")
	wantKind(t, "nobody", err, fault.NotFound)
	_, err = list.Do(t.Context(), audit.Operator(), "no body")
	wantKind(t, "an impossible name", err, fault.Invalid)
}

func TestARevokedTokenOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	secret, revoke := w.token(t, "owner"), w.tokens.Revoke
	signIn := w.tokens.SignIn
	if _, err := signIn.Do(t.Context(), secret.Reveal()); err != nil {
		t.Error(err)
	}
	stored, _, err := w.tokenStore.ByHash(t.Context(), secret.Hash())
	if err != nil {
		t.Fatal(err)
	}
	if err := revoke.Do(t.Context(), audit.Operator(), string(stored.ID)); err != nil {
		t.Error(err)
	}
	_, err = signIn.Do(t.Context(), secret.Reveal())
	wantKind(t, "a revoked token", err, fault.Unauthenticated)
	if err := revoke.Do(t.Context(), audit.Operator(), string(stored.ID)); err != nil {
		t.Errorf("got %v the second time, want nothing changed and no error", err)
	}
	for _, id := range []string{"unknown", "", "\x00"} {
		wantKind(t, "the id "+id, revoke.Do(t.Context(), audit.Operator(), id), fault.NotFound)
	}
}

// TestSessionAges wants a session to last for 30 days from its last use, and for 180 at most.
func TestSessionAges(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for what, c := range map[string]struct {
		every time.Duration // it is used again
		days  int
	}{"in use": {29 * day, 174}, "too seldom": {30 * day, 0}, "all the time": {day, 179}} {
		w := newWorld()
		w.user(t, users.CreateInput{Name: "ann"})
		secret, err := w.tokens.Sessions.Start(
			t.Context(),
			by(token.Viewer{}),
			w.session(t, "ann").User.ID,
			token.Token{},
			"a browser",
			"",
		)
		if err != nil {
			t.Fatal(err)
		}
		began, last := w.now, 0
		for range 200 {
			w.now = w.now.Add(c.every)
			if _, err := w.tokens.SignIn.Resume(t.Context(), secret.Reveal()); err != nil {
				wantKind(t, what, err, fault.Unauthenticated)
				break
			}
			if err := w.tokens.Uses.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			last = int(w.now.Sub(began) / day)
		}
		if last != c.days {
			t.Errorf("%s: got it resumed for %d days, want %d", what, last, c.days)
		}
	}
}

func TestOwnTokensAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	viewer := w.viewer(t, "owner") // by a token
	for range 999 {
		if _, _, err := w.tokens.Issue.Own(t.Context(), by(viewer), tokens.IssueInput{}); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := w.tokens.Issue.Own(t.Context(), by(viewer), tokens.IssueInput{})
	wantKind(t, "one more", err, fault.Forbidden)
	w.token(t, "owner") // by the operator
}
