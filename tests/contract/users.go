package contract

import (
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

func userByName(t *testing.T, s Store) {
	stored := storedUser(t, s, "Some.Body_1-x")
	storedUser(t, s, "Some.Body_1") // a prefix of it
	for _, name := range []string{"Some.Body_1-x", "some.body_1-x", "SOME.BODY_1-X"} {
		found, err := s.Users.ByName(t.Context(), parseName(t, name))
		must(t, err)
		want(t, "spelling", found.Name.String(), "Some.Body_1-x")
		want(t, "creation", found.CreatedAt, now.UTC())
		stored.CreatedAt = found.CreatedAt // equal, but for its location
		want(t, "user", found, stored)
	}
	plain := newUser(t, "plain")
	plain.AvatarURL, plain.PublicProfile, plain.SupporterMonths, plain.Contributor = "", false, 0, false
	must(t, s.Users.Create(t.Context(), plain, nil))
	found, err := s.Users.ByName(t.Context(), plain.Name)
	must(t, err)
	plain.CreatedAt = plain.CreatedAt.UTC()
	want(t, "user of zero values", found, plain)
}

func userByID(t *testing.T, s Store) {
	stored := newUser(t, "Somebody")
	stored.ID = "1a2b3c4d" // one with letters: of digits only, it would be the same in capitals
	must(t, s.Users.Create(t.Context(), stored, nil))
	found, err := s.Users.StaleByID(t.Context(), stored.ID)
	must(t, err)
	stored.CreatedAt = found.CreatedAt // equal, but for its location
	want(t, "user", found, stored)
	for _, id := range []user.ID{"", "unknown", stored.ID + "2", user.ID(strings.ToUpper(string(stored.ID))), "a\x00b", "\xff"} {
		_, err := s.Users.StaleByID(t.Context(), id)
		wantKind(t, err, fault.NotFound)
	}
	_, err = s.Users.StaleByID(cancelled(t), stored.ID)
	wantKind(t, err, fault.Unavailable)
}

func unknownUser(t *testing.T, s Store) {
	storedUser(t, s, "somebody")
	for _, name := range []string{"some", "somebody2", "s.mebody", "s_mebody"} {
		found, err := s.Users.ByName(t.Context(), parseName(t, name))
		wantKind(t, err, fault.NotFound)
		want(t, "user", found, user.User{})
	}
}

func userConflicts(t *testing.T, s Store) {
	first := storedUser(t, s, "somebody")
	wantOtherConflict(t, s.Users.Create(t.Context(), newUser(t, "SomeBody"), nil))
	other := newUser(t, "other")
	other.ID = first.ID
	wantIDTaken(t, s.Users.Create(t.Context(), other, map[string]string{"github": "1"}))
	_, err := s.Users.ByName(t.Context(), other.Name)
	wantKind(t, err, fault.NotFound)
	// What failed left nothing behind.
	other.ID = "fresh"
	must(t, s.Users.Create(t.Context(), other, map[string]string{"github": "1"}))
}

func cancelledUser(t *testing.T, s Store) {
	stored := storedUser(t, s, "somebody")
	started := time.Now()
	_, err := s.Users.ByName(cancelled(t), stored.Name)
	wantKind(t, err, fault.Unavailable)
	if time.Since(started) > time.Second {
		t.Errorf("got an answer after %v, want it at once when the context is cancelled", time.Since(started))
	}
}
