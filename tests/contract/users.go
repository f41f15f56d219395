package contract

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

func userByName(t *testing.T, s Store) {
	stored := storedUser(t, s, "Some.Body_1-x")
	storedUser(t, s, "Some.Body_1") // a prefix of it
	for _, name := range []string{"Some.Body_1-x", "some.body_1-x", "SOME.BODY_1-X"} {
		u, err := s.Users.ByName(t.Context(), parseName(t, name))
		must(t, err)
		want(t, "spelling", u.Name.String(), "Some.Body_1-x")
		want(t, "creation", u.CreatedAt, now.UTC())
		stored.CreatedAt = u.CreatedAt // equal, but for its location
		want(t, "user", u, stored)
	}
	plain := newUser(t, "plain")
	plain.AvatarURL, plain.PublicProfile, plain.SupporterMonths, plain.Contributor = "", false, 0, false
	must(t, s.createUser(t.Context(), plain, nil))
	u, err := s.Users.ByName(t.Context(), plain.Name)
	must(t, err)
	plain.CreatedAt = plain.CreatedAt.UTC()
	want(t, "user of zero values", u, plain)
}

func userByID(t *testing.T, s Store) {
	stored := newUser(t, "Somebody")
	stored.ID = "1a2b3c4d" // one with letters: of digits only, it would be the same in capitals
	must(t, s.createUser(t.Context(), stored, nil))
	for _, find := range []func(context.Context, user.ID) (user.User, error){
		func(ctx context.Context, id user.ID) (user.User, error) { return s.Users.ByID(ctx, id) },
		func(ctx context.Context, id user.ID) (user.User, error) { return s.Users.StaleByID(ctx, id) },
	} {
		found, err := find(t.Context(), stored.ID)
		must(t, err)
		stored.CreatedAt = found.CreatedAt // equal, but for its location
		want(t, "user", found, stored)
		for _, id := range []user.ID{"", "unknown", stored.ID + "2", user.ID(strings.ToUpper(string(stored.ID))),
			"a\x00b", "\xff"} {
			_, err := find(t.Context(), id)
			wantKind(t, err, fault.NotFound)
		}
		_, err = find(cancelled(t), stored.ID)
		wantKind(t, err, fault.Unavailable)
	}
}

func unknownUser(t *testing.T, s Store) {
	storedUser(t, s, "somebody")
	for _, name := range []string{"some", "somebody2", "s.mebody", "s_mebody"} {
		u, err := s.Users.ByName(t.Context(), parseName(t, name))
		wantKind(t, err, fault.NotFound)
		want(t, "user", u, user.User{})
	}
}

func userConflicts(t *testing.T, s Store) {
	first := storedUser(t, s, "somebody")
	wantOtherConflict(t, s.createUser(t.Context(), newUser(t, "SomeBody"), nil))
	other := newUser(t, "other")
	other.ID = first.ID
	wantIDTaken(t, s.createUser(t.Context(), other, map[string]string{"github": "1"}))
	_, err := s.Users.ByName(t.Context(), other.Name)
	wantKind(t, err, fault.NotFound)
	// What failed left nothing behind.
	other.ID = "fresh"
	must(t, s.createUser(t.Context(), other, map[string]string{"github": "1"}))
}

func account(t *testing.T, s Store) {
	owner := newUser(t, "owner")
	services := map[string]string{"github": "1", `odd "service"`: `\id`}
	must(t, s.createUser(t.Context(), owner, services))
	for range 2 { // none of them shows
		storedToken(t, s, owner.ID)
	}
	other := newUser(t, "other")
	must(t, s.createUser(t.Context(), other, map[string]string{"gitlab": "2"}))
	for _, id := range []string{"zzz", "aaa", "mmm"} {
		storedPaste(t, s, id, "", now, time.Time{})
		must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, storedPaste(t, s, "not-"+id, "", now, time.Time{})))
	}
	must(t, s.Pastes.Star(t.Context(), nowhere, other.ID, "zzz"))
	account, err := s.Users.AccountByID(t.Context(), owner.ID)
	must(t, err)
	owner.CreatedAt = now.UTC()
	want(t, "owner", account.User, owner)
	if !maps.Equal(account.Identities, services) {
		t.Errorf("services: got %v, want %v", account.Identities, services)
	}
	if expected := []string{"not-zzz", "not-aaa", "not-mmm"}; !slices.Equal(account.Stars, expected) {
		t.Errorf("stars: got %v, want %v", account.Stars, expected)
	}
}

func bareAccount(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	account, err := s.Users.AccountByID(t.Context(), owner.ID)
	must(t, err)
	if account.Stars == nil || len(account.Stars) != 0 || account.Identities == nil || len(account.Identities) != 0 {
		t.Errorf("got the stars %#v and the services %#v, want empty ones that are not nil", account.Stars,
			account.Identities)
	}
}

func starsByTime(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	for _, id := range []string{"lasting", "not-yet-there", "expired", "expiring"} {
		must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, ID(id)))
	}
	storedPaste(t, s, "lasting", "", now, time.Time{})
	storedPaste(t, s, "expiring", "", now, later)
	storedPaste(t, s, "expired", "", now, now)
	stars := func(want ...string) {
		t.Helper()
		account, err := s.Users.AccountByID(t.Context(), owner.ID)
		must(t, err)
		if !slices.Equal(account.Stars, want) {
			t.Errorf("stars: got %v, want %v", account.Stars, want)
		}
	}
	stars("lasting", "expiring")
	storedPaste(t, s, "not-yet-there", "", now, time.Time{})
	stars("lasting", "not-yet-there", "expiring")
	must(t, s.Pastes.DeleteIf(t.Context(), unrecorded, "expiring", func(paste.Paste) error { return nil }))
	stars("lasting", "not-yet-there")
}

func unknownAccount(t *testing.T, s Store) {
	owner := newUser(t, "somebody")
	owner.ID = "owner" // another one in capitals
	must(t, s.createUser(t.Context(), owner, nil))
	for _, id := range unstorable {
		account, err := s.Users.AccountByID(t.Context(), user.ID(id))
		wantKind(t, err, fault.NotFound)
		want(t, "user", account.User, user.User{})
	}
	_, err := s.Users.AccountByID(cancelled(t), owner.ID)
	wantKind(t, err, fault.Unavailable)
}

func cancelledUser(t *testing.T, s Store) {
	stored := storedUser(t, s, "somebody")
	_, err := s.Users.ByName(cancelled(t), stored.Name)
	wantKind(t, err, fault.Unavailable)
}
