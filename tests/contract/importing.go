package contract

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// rejected stands for a result with an error of that kind.
func rejected(kind fault.Kind) string { return "rejected: " + kind.String() }

const (
	fresh     = "new"
	updated   = "updated"
	unchanged = "unchanged"
)

// wantResults compares what became of each record.
func wantResults(t *testing.T, what string, results []batch.Result, err error, wanted ...string) {
	t.Helper()
	must(t, err)
	got := make([]string, len(results))
	for i, result := range results {
		got[i] = []string{fresh, updated, unchanged}[result.Outcome]
		if result.Err != nil {
			got[i] = rejected(fault.KindOf(result.Err))
		}
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("%s: got %q, want %q", what, got, wanted)
	}
}

func importedAccount(t *testing.T, id user.ID, name string) user.Account {
	t.Helper()
	u := newUser(t, name)
	u.ID = id
	return user.Account{User: u}
}

func wantNames(t *testing.T, s Store, wanted map[user.ID]string) {
	t.Helper()
	got := map[user.ID]string{}
	must(t, s.Users.Each(t.Context(), func(u user.User) error {
		got[u.ID] = u.Name.String()
		return nil
	}))
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Errorf("names: got %v, want %v", got, wanted)
	}
}

func importUsers(t *testing.T, s Store) {
	run := func(what string, accounts []user.Account, wanted ...string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), accounts)
		wantResults(t, what, results, err, wanted...)
	}
	run("nothing", nil)
	a, b := importedAccount(t, "a", "Ann"), importedAccount(t, "b", "Bob")
	a.Stars, a.Services = []string{"z", "y", "x"}, map[string]string{"github": "1", "gitlab": "2"}
	run("the first time", []user.Account{a, b}, fresh, fresh)
	a.CreatedAt, b.CreatedAt = now.Add(time.Hour), now.Add(time.Hour) // an export does not have it
	run("again", []user.Account{b, a}, unchanged, unchanged)
	for _, id := range []string{"x", "y", "z"} {
		storedPaste(t, s, id, "", now, time.Time{})
	}
	made := storedToken(t, s, "a")
	a.Name, a.Stars, a.Services, a.SupporterMonths = parseName(t, "ANN"), []string{"y", "z"}, map[string]string{"gitlab": "3"}, 0
	run("a newer export", []user.Account{a, b}, updated, unchanged)
	_, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash)
	must(t, err)
	want(t, "name", account.Name.String(), "ANN")
	want(t, "months", account.SupporterMonths, 0)
	want(t, "creation", account.CreatedAt, now.UTC())
	want(t, "stars", fmt.Sprint(account.Stars), "[y z]")
	want(t, "services", fmt.Sprint(account.Services), "map[gitlab:3]")
	twice := importedAccount(t, "c", "Cid")
	first := twice
	first.SupporterMonths = 1
	run("one id twice: the last one stays", []user.Account{first, twice}, fresh, updated)
	found, err := s.Users.ByName(t.Context(), twice.Name)
	must(t, err)
	want(t, "months of the id that came twice", found.SupporterMonths, twice.SupporterMonths)
}

// importNames moves names between users in every way, in both orders of the records.
func importNames(t *testing.T, s Store) {
	run := func(what string, accounts []user.Account, wanted ...string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), accounts)
		wantResults(t, what, results, err, wanted...)
	}
	account := func(id user.ID, name string) user.Account { return importedAccount(t, id, name) }
	run("the beginning", []user.Account{account("a", "y"), account("b", "x"), account("c", "c"), account("d", "d")},
		fresh, fresh, fresh, fresh)
	run("a chain, its end first", []user.Account{account("b", "z"), account("a", "x")}, updated, updated)
	wantNames(t, s, map[user.ID]string{"a": "x", "b": "z", "c": "c", "d": "d"})
	run("a chain, its beginning first", []user.Account{account("a", "Z"), account("b", "y")}, updated, updated)
	wantNames(t, s, map[user.ID]string{"a": "Z", "b": "y", "c": "c", "d": "d"})
	run("a circle of three and a new user", []user.Account{account("a", "y"), account("b", "c"), account("e", "x"), account("c", "z")},
		updated, updated, fresh, updated)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x"})
	run("a name that somebody keeps", []user.Account{account("a", "D"), account("f", "f")}, rejected(fault.Conflict), fresh)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x", "f": "f"})
	run("a chain behind such a name, and one beside it",
		[]user.Account{account("b", "y"), account("a", "d"), account("g", "c"), account("h", "h")},
		rejected(fault.Conflict), rejected(fault.Conflict), rejected(fault.Conflict), fresh)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x", "f": "f", "h": "h"})
	results, err := s.Users.Import(t.Context(), []user.Account{account("i", "same"), account("j", "SAME")})
	wantResults(t, "two that want one name", results, err, fresh, rejected(fault.Conflict))
	results, err = s.Users.Import(t.Context(), []user.Account{account("d", "dd"), account("a", "d")})
	wantResults(t, "what was refused, once the name is free", results, err, updated, updated)
}

func importTokens(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	key := func(id token.ID, hash byte) token.Token {
		return token.Token{ID: id, Owner: owner.ID, Hash: token.Hash{hash}, Name: "key", CreatedAt: now}
	}
	run := func(what string, keys []token.Token, wanted ...string) {
		t.Helper()
		results, err := s.Tokens.Import(t.Context(), keys)
		wantResults(t, what, results, err, wanted...)
	}
	holds := func(hash byte, id token.ID, revoked bool) {
		t.Helper()
		found, err := s.Tokens.ByHash(t.Context(), token.Hash{hash})
		must(t, err)
		want(t, fmt.Sprint("holder of ", hash), found.ID, id)
		want(t, fmt.Sprint(id, " is revoked"), !found.RevokedAt.IsZero(), revoked)
	}
	run("nothing", nil)
	run("the first time", []token.Token{key("a", 1), key("b", 2)}, fresh, fresh)
	must(t, s.Tokens.Revoke(t.Context(), "a", now))
	run("again", []token.Token{key("b", 2), key("a", 1)}, unchanged, unchanged)
	holds(1, "a", true)
	run("a new hash", []token.Token{key("a", 3)}, updated)
	holds(3, "a", false)
	_, err := s.Tokens.ByHash(t.Context(), token.Hash{1})
	wantKind(t, err, fault.NotFound)
	run("a chain", []token.Token{key("a", 2), key("b", 4)}, updated, updated)
	holds(2, "a", false)
	run("a circle", []token.Token{key("a", 4), key("b", 2)}, updated, updated)
	holds(4, "a", false)
	holds(2, "b", false)
	stranger := key("c", 5)
	stranger.Owner = "nobody"
	run("an unknown owner, a hash that another keeps, and a good one",
		[]token.Token{stranger, key("d", 4), key("e", 6)}, rejected(fault.NotFound), rejected(fault.Conflict), fresh)
	holds(4, "a", false)
	holds(6, "e", false)
}

func importPastes(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	run := func(what string, pastes []paste.Paste, wanted ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), pastes)
		wantResults(t, what, results, err, wanted...)
	}
	at := now.UTC()
	mine := paste.Paste{ID: "mine", Owner: owner.ID, CreatedAt: at, ExpiresAt: later.UTC().Truncate(time.Microsecond)}
	nobodys := paste.Paste{ID: "nobodys", CreatedAt: at}
	run("nothing", nil)
	run("the first time", []paste.Paste{mine, nobodys}, fresh, fresh)
	run("again", []paste.Paste{nobodys, mine}, unchanged, unchanged)
	mine.ExpiresAt = time.Time{}
	stranger := paste.Paste{ID: "stranger", Owner: "nobody", CreatedAt: at}
	run("a newer export", []paste.Paste{stranger, mine, {ID: "third", Owner: owner.ID, CreatedAt: at.Add(-time.Hour)}},
		rejected(fault.NotFound), updated, fresh)
	if got, wanted := activeIDs(t, s, owner.ID), []string{"mine", "third"}; !slices.Equal(got, wanted) {
		t.Errorf("pastes: got %v, want %v", got, wanted)
	}
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 3)
}
