package contract

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

func newSession(owner user.ID, parent token.ID, created time.Time) token.Token {
	return token.Token{
		ID: token.ID(ident.New()), Owner: owner, Kind: token.Session, Parent: parent, Hash: token.Generate().Hash(),
		Name:      "Firefox on Linux",
		CreatedAt: created, ExpiresAt: created.Add(token.SessionAge),
	}
}

func startedSession(t *testing.T, s Store, owner user.ID, parent token.ID, created time.Time) token.Token {
	t.Helper()
	newPaste := newSession(owner, parent, created)
	must(t, s.Tokens.StartSession(t.Context(), nowhere, newPaste, token.Hash{}))
	return newPaste
}

// wantSessions checks which sessions an owner has, the latest first.
func wantSessions(t *testing.T, s Store, owner user.ID, want ...token.Token) {
	t.Helper()
	found, err := s.Tokens.Sessions(t.Context(), owner)
	must(t, err)
	if !slices.EqualFunc(found, want, func(a, b token.Token) bool { return a.ID == b.ID }) {
		t.Errorf("got the sessions %v, want %v", found, want)
	}
}

// exports have all that other ports say about a user.
func exports(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	_, err := s.Tokens.Export(t.Context(), "nobody")
	wantKind(t, err, fault.NotFound)
	storedPaste(t, s, "starred", "", now, time.Time{})
	must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, "starred"))
	storedToken(t, s, owner.ID)
	storedToken(t, s, storedUser(t, s, "other").ID)
	startedSession(t, s, owner.ID, "", now)
	must(t, renamed(t, s, "owner", "renamed"))
	export, err := s.Tokens.Export(t.Context(), owner.ID)
	must(t, err)
	var want token.Export
	want.FormerNames = []string{"owner"}
	want.Account, err = s.Users.AccountByID(t.Context(), owner.ID)
	must(t, err)
	want.Tokens, err = s.Tokens.ByOwner(t.Context(), owner.ID)
	must(t, err)
	want.Sessions, err = s.Tokens.Sessions(t.Context(), owner.ID)
	must(t, err)
	if !reflect.DeepEqual(export, want) || len(want.Tokens) != 1 || len(want.Sessions) != 1 ||
		len(want.Stars) != 1 {
		t.Errorf("got %+v, want %+v, with a token, a session and a star", export, want)
	}
}

func sessions(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	access := storedToken(t, s, owner.ID)
	wantSessions(t, s, owner.ID)
	first := startedSession(t, s, owner.ID, "", now)
	second := startedSession(t, s, owner.ID, access.ID, now.Add(time.Minute))
	others := startedSession(t, s, other.ID, "", now)
	wantSessions(t, s, owner.ID, second, first)
	tok, holder, err := s.Tokens.ByHash(t.Context(), second.Hash)
	must(t, err)
	expected := second
	expected.CreatedAt, expected.ExpiresAt = second.CreatedAt.UTC(), second.ExpiresAt.UTC()
	want(t, "session", tok, expected)
	want(t, "its user", holder.ID, owner.ID)
	listed, err := s.Tokens.ByOwner(t.Context(), owner.ID)
	must(t, err)
	want(t, "access tokens", len(listed), 1)

	third := newSession(owner.ID, "", now.Add(2*time.Minute))
	must(t, s.Tokens.StartSession(t.Context(), nowhere, third, first.Hash))
	wantSessions(t, s, owner.ID, third, second)
	clash := newSession(owner.ID, "", now)
	clash.ID = third.ID
	wantIDTaken(t, s.Tokens.StartSession(t.Context(), nowhere, clash, token.Hash{}))
	wantKind(t, s.Tokens.StartSession(t.Context(), nowhere, newSession("nobody", "", now), token.Hash{}), fault.NotFound)
	suspended := storedUser(t, s, "suspended")
	_, _, err = s.Users.Update(t.Context(), nowhere, unrecorded, suspended.ID,
		func(u *user.User, _ map[string]string) error {
			u.Suspended = true
			return nil
		})
	must(t, err)
	wantKind(t, s.Tokens.StartSession(t.Context(), nowhere, newSession(suspended.ID, "", now), token.Hash{}),
		fault.Forbidden)
	// Another user's session, or an access token, is not ended by its hash or its id.
	older := newSession(owner.ID, "", now.Add(-time.Hour))
	must(t, s.Tokens.StartSession(t.Context(), nowhere, older, access.Hash))
	must(t, s.Tokens.EndSessionByHash(t.Context(), access.Hash))
	must(t, s.Tokens.EndSessionByHash(t.Context(), token.Hash{}))
	for _, id := range []token.ID{access.ID, others.ID, "unknown", "a\x00", "\xff"} {
		wantKind(t, s.Tokens.EndSession(t.Context(), nowhere, owner.ID, id), fault.NotFound)
	}
	wantKind(t, s.Tokens.Revoke(t.Context(), nowhere, unrecorded, third.ID, now), fault.NotFound)
	must(t, s.Tokens.EndSession(t.Context(), nowhere, owner.ID, second.ID))
	must(t, s.Tokens.EndSessionByHash(t.Context(), third.Hash))
	wantSessions(t, s, owner.ID, older)
	_, _, err = s.Tokens.ByHash(t.Context(), third.Hash)
	wantKind(t, err, fault.NotFound)

	kept := newSession(owner.ID, "", now)
	must(t, s.Tokens.StartSession(t.Context(), nowhere, kept, others.Hash)) // another user signs in with the same browser
	wantSessions(t, s, other.ID)
	others = startedSession(t, s, other.ID, "", now)
	ended, err := s.Tokens.EndSessions(t.Context(), nowhere, unrecorded, owner.ID, kept.ID)
	must(t, err)
	want(t, "ended", ended, 1)
	wantSessions(t, s, owner.ID, kept)
	ended, err = s.Tokens.EndSessions(t.Context(), nowhere, unrecorded, owner.ID, "")
	must(t, err)
	want(t, "ended", ended, 1)
	_, _, err = s.Tokens.ByHash(t.Context(), access.Hash)
	must(t, err)
	tok, _, err = s.Tokens.ByHash(t.Context(), others.Hash)
	must(t, err)
	want(t, "somebody else's", tok.ID, others.ID)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, other.ID, other.Name, nil))
	_, _, err = s.Tokens.ByHash(t.Context(), others.Hash)
	wantKind(t, err, fault.NotFound)
}

// sessionsOfTokens end when their token is revoked, or an import gives it another hash.
func sessionsOfTokens(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	revoked, imported := storedToken(t, s, owner.ID), storedToken(t, s, owner.ID)
	own := startedSession(t, s, owner.ID, "", now)
	startedSession(t, s, owner.ID, revoked.ID, now.Add(time.Second))
	kept := startedSession(t, s, owner.ID, imported.ID, now.Add(2*time.Second))
	must(t, s.Tokens.Revoke(t.Context(), nowhere, unrecorded, revoked.ID, now))
	wantSessions(t, s, owner.ID, kept, own)
	for _, parent := range []token.ID{revoked.ID, "unknown", own.ID} {
		wantKind(t, s.Tokens.StartSession(t.Context(), nowhere, newSession(owner.ID, parent, now), token.Hash{}),
			fault.NotFound)
	}
	_, err := s.Tokens.Import(t.Context(), []token.Token{imported})
	must(t, err)
	wantSessions(t, s, owner.ID, kept, own)
	imported.Hash = token.Generate().Hash()
	_, err = s.Tokens.Import(t.Context(), []token.Token{imported})
	must(t, err)
	wantSessions(t, s, owner.ID, own)
}

// manySessions are bounded, and those that have ended by themselves go when the next one begins.
func manySessions(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	expired := newSession(owner.ID, "", now)
	expired.ExpiresAt = now.Add(time.Minute)
	must(t, s.Tokens.StartSession(t.Context(), nowhere, expired, token.Hash{}))
	used := startedSession(t, s, owner.ID, "", now.Add(time.Second))
	must(t, s.Tokens.SetLastUsed(t.Context(), map[token.ID]time.Time{used.ID: now.Add(time.Hour)}))
	unused := startedSession(t, s, owner.ID, "", now.Add(2*time.Second))
	wantSessions(t, s, owner.ID, unused, used, expired)
	later := startedSession(t, s, owner.ID, "", unused.CreatedAt.Add(token.SessionIdle))
	wantSessions(t, s, owner.ID, later, used)
	for i := range token.MaxSessions {
		startedSession(t, s, owner.ID, "", later.CreatedAt.Add(time.Duration(i+1)*time.Second))
	}
	left, err := s.Tokens.Sessions(t.Context(), owner.ID)
	must(t, err)
	want(t, "sessions left", len(left), token.MaxSessions)
	if slices.ContainsFunc(left, func(k token.Token) bool { return k.ID == later.ID || k.ID == used.ID }) {
		t.Error("got the oldest sessions, want them ended")
	}
}

// sessionsMeet begins sessions while their token is revoked: none is left.
func sessionsMeet(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	for range 5 {
		access := storedToken(t, s, owner.ID)
		wantNoErrors(t, meet(func(caller int) error {
			if caller == 0 {
				return s.Tokens.Revoke(t.Context(), nowhere, unrecorded, access.ID, now)
			}
			err := s.Tokens.StartSession(t.Context(), nowhere, newSession(owner.ID, access.ID, now), token.Hash{})
			if err != nil && !fault.Is(err, fault.NotFound) {
				return fmt.Errorf("caller %d: %w", caller, err)
			}
			return nil
		}))
		wantSessions(t, s, owner.ID)
	}
}
