package contract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// unstorable are texts that no store can have as an id: a lookup of one finds nothing.
var unstorable = []string{"", "nobody", "a\x00b", "\xff", "OWNER", "owner\u202e"}

func updateUser(t *testing.T, s Store) {
	before := newUser(t, "somebody")
	must(t, s.createUser(t.Context(), before, map[string]string{"github": "1", "gitlab": "2"}))
	storedUser(t, s, "bystander")
	updated, services, err := s.Users.Update(
		t.Context(),
		nowhere,
		unrecorded,
		before.ID,
		func(u *user.User, services map[string]string) error {
			want(t, "the user as it is", u.ID, before.ID)
			want(t, "the time of creation as it is", u.CreatedAt, now.UTC())
			u.AvatarURL, u.PublicProfile, u.SupporterMonths = "", false, 0
			u.Name = parseName(t, "SOMEBODY") // the same name, spelled anew
			u.ID, u.CreatedAt = "another", time.Unix(0, 0)
			delete(services, "gitlab")
			services["codeberg"] = "3"
			return nil
		},
	)
	must(t, err)
	expected := before
	expected.Name, expected.AvatarURL, expected.PublicProfile, expected.SupporterMonths = parseName(t, "SOMEBODY"), "",
		false, 0
	expected.CreatedAt = now.UTC()
	expectedServices := map[string]string{"github": "1", "codeberg": "3"}
	want(t, "the returned user", updated, expected)
	stored, err := s.Users.AccountByID(t.Context(), before.ID)
	must(t, err)
	want(t, "the stored user", stored.User, expected)
	if !maps.Equal(services, expectedServices) || !maps.Equal(stored.Identities, expectedServices) {
		t.Errorf("services: got %v returned, %v stored, want %v", services, stored.Identities, expectedServices)
	}
	bystander, err := s.Users.ByName(t.Context(), parseName(t, "bystander"))
	must(t, err)
	want(t, "the bystander's months", bystander.SupporterMonths, 1<<31-1)
}

func updateUserRefused(t *testing.T, s Store) {
	before := storedUser(t, s, "somebody")
	storedUser(t, s, "taken")
	refusal := errors.New("no")
	for what, change := range map[string]func(u *user.User, services map[string]string) error{
		"refusal": func(u *user.User, services map[string]string) error {
			u.SupporterMonths, services["github"] = 1, "1"
			return refusal
		},
		"conflict": func(u *user.User, services map[string]string) error {
			u.Name, u.SupporterMonths, services["github"] = parseName(t, "TAKEN"), 1, "1"
			return nil
		},
	} {
		_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, before.ID, change)
		if what == "refusal" && !errors.Is(err, refusal) {
			t.Errorf("%s: got the error %v, want that of change", what, err)
		}
		if what == "conflict" {
			wantOtherConflict(t, err)
		}
		after, err := s.Users.AccountByID(t.Context(), before.ID)
		must(t, err)
		want(t, what+": months", after.SupporterMonths, before.SupporterMonths)
		want(t, what+": services", len(after.Identities), 0)
	}
	for _, id := range unstorable {
		_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, user.ID(id), func(*user.User, map[string]string) error {
			t.Error("got change called for nobody, want it not to be called")
			return nil
		})
		wantKind(t, err, fault.NotFound)
		_, err = s.Users.AccountByID(t.Context(), user.ID(id))
		wantKind(t, err, fault.NotFound)
	}
}

func deleteUser(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	created, kept := storedToken(t, s, owner.ID), storedToken(t, s, other.ID)
	storedPaste(t, s, "owned", owner.ID, now, time.Time{})
	storedPaste(t, s, "others", other.ID, now, time.Time{})
	storedPaste(t, s, "nobodys", "", now, time.Time{})
	must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, "others"))
	wantKind(
		t,
		s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, other.Name, nil),
		fault.NotFound,
	) // who was shown has another name by now
	// the name has moved to another
	wantKind(t, s.Users.Delete(t.Context(), nowhere, unrecorded, other.ID, owner.Name, nil), fault.NotFound)
	for _, id := range unstorable {
		wantKind(t, s.Users.Delete(t.Context(), nowhere, unrecorded, user.ID(id), owner.Name, nil), fault.NotFound)
	}
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, parseName(t, "OWNER"), nil))
	_, err := s.Users.ByName(t.Context(), owner.Name)
	wantKind(t, err, fault.NotFound)
	_, _, err = s.Tokens.ByHash(t.Context(), created.Hash)
	wantKind(t, err, fault.NotFound)
	_, _, err = s.Tokens.ByHash(t.Context(), kept.Hash)
	must(t, err)
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "pastes that are left", count, 2)
	_, err = s.Users.AccountByID(t.Context(), owner.ID)
	wantKind(t, err, fault.NotFound)
	wantKind(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, nil), fault.NotFound)
	again := newUser(t, "owner") // the name is free, and nothing of the former owner's shows
	must(t, s.createUser(t.Context(), again, nil))
	want(t, "pastes of the name's new owner", len(activeIDs(t, s, again.ID)), 0)
}

func revokeToken(t *testing.T, s Store) {
	created, bystander := storedToken(t, s, storedUser(t, s, "owner").ID), storedToken(t, s, storedUser(t, s, "other").ID)
	for _, at := range []time.Time{now, now.Add(time.Hour)} { // the first time counts
		must(t, s.Tokens.Revoke(t.Context(), nowhere, unrecorded, created.ID, at))
		tok, _, err := s.Tokens.ByHash(t.Context(), created.Hash)
		must(t, err)
		want(t, "revoked", tok.RevokedAt, now.UTC())
	}
	tok, _, err := s.Tokens.ByHash(t.Context(), bystander.Hash)
	must(t, err)
	want(t, "the bystander is revoked", !tok.RevokedAt.IsZero(), false)
	for _, id := range unstorable {
		wantKind(t, s.Tokens.Revoke(t.Context(), nowhere, unrecorded, token.ID(id), now), fault.NotFound)
	}
}

func unstarPaste(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	for _, id := range []string{"a", "b", "c"} {
		storedPaste(t, s, id, "", now, time.Time{})
		must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, ID(id)))
	}
	must(t, s.Pastes.Unstar(t.Context(), nowhere, owner.ID, "a"))
	wantKind(t, s.Pastes.Unstar(t.Context(), nowhere, owner.ID, "a"), fault.NotFound)
	wantKind(t, s.Pastes.Unstar(t.Context(), nowhere, "unknown", "b"), fault.NotFound)
	for _, id := range unstorable {
		wantKind(t, s.Pastes.Unstar(t.Context(), nowhere, owner.ID, ID(id)), fault.NotFound)
	}
	must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, "a")) // comes last now
	account, err := s.Users.AccountByID(t.Context(), owner.ID)
	must(t, err)
	if want := []string{"b", "c", "a"}; !slices.Equal(account.Stars, want) {
		t.Errorf("got %v, want %v", account.Stars, want)
	}
}

func listUsers(t *testing.T, s Store) {
	page := func(after user.Name, limit int) (names []string) {
		t.Helper()
		users, err := s.Users.Users(t.Context(), after, limit)
		must(t, err)
		for _, u := range users {
			names = append(names, u.Name.String())
		}
		return names
	}
	want(t, "users", len(page(user.Name{}, 10)), 0)
	for _, name := range []string{"b", "a.1", "A-2", "C", "a_3", "0"} {
		storedUser(t, s, name)
	}
	expected := []string{"0", "A-2", "a.1", "a_3", "b", "C"}
	if got := page(user.Name{}, 10); !slices.Equal(got, expected) {
		t.Errorf("got %v, want %v", got, expected)
	}
	for i, name := range expected {
		name = strings.ToUpper(name)
		if got, want := page(parseName(t, name), 2), expected[i+1:min(i+3, len(expected))]; !slices.Equal(got, want) {
			t.Errorf("after %s: got %v, want %v", name, got, want)
		}
	}
	want(t, "after one who is not there", fmt.Sprint(page(parseName(t, "a.2"), 1)), "[a_3]")
}

func listTokens(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	for _, id := range []user.ID{owner.ID, "unknown"} {
		listed, err := s.Tokens.ByOwner(t.Context(), id)
		must(t, err)
		if listed == nil || len(listed) != 0 {
			t.Errorf("tokens of %s: got %#v, want an empty list", id, listed)
		}
	}
	storedToken(t, s, other.ID)
	newPaste := func(id token.ID, created time.Time, change func(*token.Token)) {
		t.Helper()
		k := token.Token{ID: id, Owner: owner.ID, Hash: token.Generate().Hash(), CreatedAt: created}
		change(&k)
		must(t, s.Tokens.Create(t.Context(), nowhere, unrecorded, k))
	}
	newPaste("newest", now.Add(time.Second), func(k *token.Token) { k.RevokedAt = now })
	newPaste("tie-b", now, func(k *token.Token) { k.ExpiresAt = now })
	newPaste("tie-B", now, func(*token.Token) {})
	newPaste("oldest", now.Add(-time.Second), func(*token.Token) {})
	listed, err := s.Tokens.ByOwner(t.Context(), owner.ID)
	must(t, err)
	got := []token.ID{}
	for _, k := range listed {
		got = append(got, k.ID)
	}
	if want := []token.ID{"oldest", "tie-B", "tie-b", "newest"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(listed) == 4 && (listed[3].RevokedAt != now.UTC() || listed[2].ExpiresAt != now.UTC()) {
		t.Errorf("got %+v, want the times that were stored", listed)
	}
}

func totals(t *testing.T, s Store) {
	count := func(expected stats.Counts) {
		t.Helper()
		got, err := s.Stats.Totals(t.Context())
		must(t, err)
		want(t, "totals", got.Counts, expected)
	}
	count(stats.Counts{})
	owner := storedUser(t, s, "owner")
	created := storedToken(t, s, owner.ID)
	must(t, s.Tokens.Revoke(t.Context(), nowhere, unrecorded, created.ID, now))
	must(t, s.Tokens.StartSession(t.Context(), nowhere, newSession(owner.ID, "", now), token.Hash{}))
	storedPaste(t, s, "active", owner.ID, now, time.Time{})
	storedPaste(t, s, "later", "", now, later)
	storedPaste(t, s, "expired", "", now, now)
	for _, star := range []ID{"active", "expired", "waiting"} {
		must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, star))
	}
	count(stats.Counts{Users: 1, Tokens: 1, ActivePastes: 2, ExpiredPastes: 1, WaitingStars: 1})
}

// cancelledChanges ends every method that has no such test of its own.
func cancelledChanges(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	created := storedToken(t, s, owner.ID)
	id := storedPaste(t, s, "mine", owner.ID, now, time.Time{})
	ctx := cancelled(t)
	for what, call := range map[string]func() error{
		"StaleByName": func() error { _, err := s.Users.StaleByName(ctx, owner.Name); return err },
		"AccountByID": func() error { _, err := s.Users.AccountByID(ctx, owner.ID); return err },
		"Create":      func() error { return s.createUser(ctx, newUser(t, "another"), nil) },
		"Update": func() error {
			_, _, err := s.Users.Update(ctx, nowhere, unrecorded, owner.ID, func(u *user.User, _ map[string]string) error {
				u.SupporterMonths = 1
				return nil
			})
			return err
		},
		"Delete":       func() error { return s.Users.Delete(ctx, nowhere, unrecorded, owner.ID, owner.Name, nil) },
		"ByFormerName": func() error { _, err := s.Users.ByFormerName(ctx, owner.Name); return err },
		"Export":       func() error { _, err := s.Tokens.Export(ctx, owner.ID); return err },
		"Users":        func() error { _, err := s.Users.Users(ctx, user.Name{}, 1); return err },
		"Import users": func() error {
			_, err := s.Users.Import(ctx, []user.Import{importedAccount(t, "another", "another")})
			return err
		},
		"SetLastUsed": func() error { return s.Tokens.SetLastUsed(ctx, map[token.ID]time.Time{created.ID: now}) },
		"ByOwner":     func() error { _, err := s.Tokens.ByOwner(ctx, owner.ID); return err },
		"Revoke":      func() error { return s.Tokens.Revoke(ctx, nowhere, unrecorded, created.ID, now) },
		"StartSession": func() error {
			return s.Tokens.StartSession(ctx, nowhere, token.Token{ID: "s", Owner: owner.ID, Kind: token.Session,
				CreatedAt: now}, token.Hash{})
		},
		"Sessions":         func() error { _, err := s.Tokens.Sessions(ctx, owner.ID); return err },
		"EndSessionByHash": func() error { return s.Tokens.EndSessionByHash(ctx, created.Hash) },
		"EndSession":       func() error { return s.Tokens.EndSession(ctx, nowhere, owner.ID, created.ID) },
		"EndSessions": func() error {
			_, err := s.Tokens.EndSessions(ctx, nowhere, unrecorded, owner.ID,
				"")
			return err
		},
		"Import keys": func() error {
			_, err := s.Tokens.Import(ctx, []token.Token{{ID: "new", Owner: owner.ID, Hash: token.Hash{1}, CreatedAt: now}})
			return err
		},
		"Create paste": func() error {
			return s.Pastes.CreateDocument(ctx, paste.Document{Paste: paste.Paste{ID: "new", CreatedAt: now}})
		},
		"Star":   func() error { return s.Pastes.Star(ctx, nowhere, owner.ID, id) },
		"Unstar": func() error { return s.Pastes.Unstar(ctx, nowhere, owner.ID, id) },
		"Page":   func() error { _, _, err := s.Pastes.ActiveIDs(ctx, owner.ID, paste.Cursor{}, 1); return err },
		"Import pastes": func() error {
			_, err := s.Pastes.Import(ctx, []paste.Import{{ID: "new", CreatedAt: now}}, paste.RefuseOrphans)
			return err
		},
		"Totals": func() error { _, err := s.Stats.Totals(ctx); return err },
	} {
		if err := call(); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: got %v, want a fault of kind %q", what, err, fault.Unavailable)
		}
	}
	got, err := s.Stats.Totals(t.Context())
	must(t, err)
	want(t, "users", got.Users, 1)
	want(t, "tokens", got.Tokens, 1)
	want(t, "pastes", got.ActivePastes, 1)
}
