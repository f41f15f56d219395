package contract

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

func tokenByHash(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	full := token.Token{
		ID: "full", Owner: owner.ID, Hash: token.Generate().Hash(), Name: "späte Tokens",
		CreatedAt: now, ExpiresAt: now.Add(time.Hour), LastUsedAt: now.Add(time.Minute), RevokedAt: now.Add(time.Second),
	}
	must(t, s.Tokens.Create(t.Context(), full))
	bare := storedToken(t, s, owner.ID)
	found, err := s.Tokens.ByHash(t.Context(), full.Hash)
	must(t, err)
	full.CreatedAt, full.ExpiresAt = full.CreatedAt.UTC(), full.ExpiresAt.UTC()
	full.LastUsedAt, full.RevokedAt = full.LastUsedAt.UTC(), full.RevokedAt.UTC()
	want(t, "token", found, full)
	found, err = s.Tokens.ByHash(t.Context(), bare.Hash)
	must(t, err)
	bare.CreatedAt = bare.CreatedAt.UTC()
	want(t, "token that never expires", found, bare)
}

func unknownToken(t *testing.T, s Store) {
	storedToken(t, s, storedUser(t, s, "owner").ID)
	for _, hash := range []token.Hash{{}, token.Generate().Hash()} {
		_, err := s.Tokens.ByHash(t.Context(), hash)
		wantKind(t, err, fault.NotFound)
		_, _, err = s.Tokens.AccountByHash(t.Context(), hash)
		wantKind(t, err, fault.NotFound)
	}
}

func tokenConflicts(t *testing.T, s Store) {
	first := storedToken(t, s, storedUser(t, s, "owner").ID)
	second := first
	second.ID = "another"
	wantOtherConflict(t, s.Tokens.Create(t.Context(), second))
	second.ID, second.Hash = first.ID, token.Generate().Hash()
	wantIDTaken(t, s.Tokens.Create(t.Context(), second))
	second.ID, second.Owner = "another", "nobody"
	wantKind(t, s.Tokens.Create(t.Context(), second), fault.NotFound)
}

func lastUsed(t *testing.T, s Store) {
	made := storedToken(t, s, storedUser(t, s, "owner").ID)
	for _, step := range []struct{ at, kept time.Time }{
		{now, now},
		{now.Add(time.Minute), now.Add(time.Minute)},
		{now, now.Add(time.Minute)},
	} {
		must(t, s.Tokens.SetLastUsed(t.Context(), map[token.ID]time.Time{made.ID: step.at, "unknown": step.at}))
		found, err := s.Tokens.ByHash(t.Context(), made.Hash)
		must(t, err)
		want(t, "last used", found.LastUsedAt, step.kept.UTC())
	}
}

func account(t *testing.T, s Store) {
	owner := newUser(t, "owner")
	services := map[string]string{"github": "1", `odd "service"`: `\id`}
	must(t, s.Users.Create(t.Context(), owner, services))
	made := storedToken(t, s, owner.ID)
	storedToken(t, s, owner.ID) // users have several
	for _, id := range []string{"zzz", "aaa", "mmm"} {
		storedPaste(t, s, id, "", now, time.Time{})
		must(t, s.Pastes.Star(t.Context(), owner.ID, storedPaste(t, s, "not-"+id, "", now, time.Time{})))
	}
	found, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash)
	must(t, err)
	made.CreatedAt, owner.CreatedAt = now.UTC(), now.UTC()
	want(t, "token", found, made)
	want(t, "owner", account.User, owner)
	if !maps.Equal(account.Services, services) {
		t.Errorf("services: got %v, want %v", account.Services, services)
	}
	if wanted := []string{"not-zzz", "not-aaa", "not-mmm"}; !slices.Equal(account.Stars, wanted) {
		t.Errorf("stars: got %v, want %v", account.Stars, wanted)
	}
}

func bareAccount(t *testing.T, s Store) {
	made := storedToken(t, s, storedUser(t, s, "owner").ID)
	_, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash)
	must(t, err)
	if account.Stars == nil || len(account.Stars) != 0 || account.Services == nil || len(account.Services) != 0 {
		t.Errorf("got the stars %#v and the services %#v, want empty ones that are not nil", account.Stars, account.Services)
	}
}

func starsByTime(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	made := storedToken(t, s, owner.ID)
	for _, id := range []string{"lasting", "not-yet-there", "expired", "expiring"} {
		must(t, s.Pastes.Star(t.Context(), owner.ID, ID(id)))
	}
	storedPaste(t, s, "lasting", "", now, time.Time{})
	storedPaste(t, s, "expiring", "", now, later)
	storedPaste(t, s, "expired", "", now, now)
	stars := func(wanted ...string) {
		t.Helper()
		_, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash)
		must(t, err)
		if !slices.Equal(account.Stars, wanted) {
			t.Errorf("stars: got %v, want %v", account.Stars, wanted)
		}
	}
	stars("lasting", "expiring")
	storedPaste(t, s, "not-yet-there", "", now, time.Time{})
	stars("lasting", "not-yet-there", "expiring")
}

func cancelledToken(t *testing.T, s Store) {
	made := storedToken(t, s, storedUser(t, s, "owner").ID)
	_, err := s.Tokens.ByHash(cancelled(t), made.Hash)
	wantKind(t, err, fault.Unavailable)
	_, _, err = s.Tokens.AccountByHash(cancelled(t), made.Hash)
	wantKind(t, err, fault.Unavailable)
	unstored := token.Token{ID: token.ID(ident.New()), Owner: user.ID("x"), CreatedAt: now}
	wantKind(t, s.Tokens.Create(cancelled(t), unstored), fault.Unavailable)
}
