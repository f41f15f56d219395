package contract

import (
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
		ID: "full", Owner: owner.ID, Kind: token.Session, Scope: token.Read, Parent: "parent", Hash: token.Generate().Hash(),
		Name:      "späte Tokens",
		CreatedAt: now, ExpiresAt: now.Add(time.Hour), LastUsedAt: now.Add(time.Minute), RevokedAt: now.Add(time.Second),
	}
	must(t, s.Tokens.Create(t.Context(), nowhere, unrecorded, full))
	bare := storedToken(t, s, owner.ID)
	found, holder, err := s.Tokens.ByHash(t.Context(), full.Hash)
	must(t, err)
	full.CreatedAt, full.ExpiresAt = full.CreatedAt.UTC(), full.ExpiresAt.UTC()
	full.LastUsedAt, full.RevokedAt = full.LastUsedAt.UTC(), full.RevokedAt.UTC()
	want(t, "token", found, full)
	owner.CreatedAt = owner.CreatedAt.UTC()
	want(t, "owner", holder, owner)
	found, holder, err = s.Tokens.ByHash(t.Context(), bare.Hash)
	must(t, err)
	bare.CreatedAt = bare.CreatedAt.UTC()
	want(t, "token that never expires", found, bare)
	want(t, "its owner", holder, owner)
}

func unknownToken(t *testing.T, s Store) {
	storedToken(t, s, storedUser(t, s, "owner").ID)
	for _, hash := range []token.Hash{{}, token.Generate().Hash()} {
		found, owner, err := s.Tokens.ByHash(t.Context(), hash)
		wantKind(t, err, fault.NotFound)
		want(t, "token", found, token.Token{})
		want(t, "owner", owner, user.User{})
	}
}

// tokenOwner changes the owner, who is found as the owner is then.
func tokenOwner(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	made, others := storedToken(t, s, owner.ID), storedToken(t, s, other.ID)
	updated, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, owner.ID,
		func(u *user.User, _ map[string]string) error {
			u.Name, u.AvatarURL, u.PublicProfile = parseName(t, "Renamed"), "", false
			return nil
		})
	must(t, err)
	for hash, wanted := range map[token.Hash]user.ID{made.Hash: owner.ID, others.Hash: other.ID} {
		found, holder, err := s.Tokens.ByHash(t.Context(), hash)
		must(t, err)
		want(t, "owner's id with the token", found.Owner, wanted)
		want(t, "owner's id", holder.ID, wanted)
		if wanted == owner.ID {
			want(t, "owner", holder, updated)
		}
	}
}

func tokenConflicts(t *testing.T, s Store) {
	first := storedToken(t, s, storedUser(t, s, "owner").ID)
	second := first
	second.ID = "another"
	wantOtherConflict(t, s.Tokens.Create(t.Context(), nowhere, unrecorded, second))
	second.ID, second.Hash = first.ID, token.Generate().Hash()
	wantIDTaken(t, s.Tokens.Create(t.Context(), nowhere, unrecorded, second))
	second.ID, second.Owner = "another", "nobody"
	wantKind(t, s.Tokens.Create(t.Context(), nowhere, unrecorded, second), fault.NotFound)
}

func lastUsed(t *testing.T, s Store) {
	made := storedToken(t, s, storedUser(t, s, "owner").ID)
	for _, step := range []struct{ at, kept time.Time }{
		{now, now},
		{now.Add(time.Minute), now.Add(time.Minute)},
		{now, now.Add(time.Minute)},
	} {
		must(t, s.Tokens.SetLastUsed(t.Context(), map[token.ID]time.Time{made.ID: step.at, "unknown": step.at}))
		found, _, err := s.Tokens.ByHash(t.Context(), made.Hash)
		must(t, err)
		want(t, "last used", found.LastUsedAt, step.kept.UTC())
	}
}

func cancelledToken(t *testing.T, s Store) {
	made := storedToken(t, s, storedUser(t, s, "owner").ID)
	_, _, err := s.Tokens.ByHash(cancelled(t), made.Hash)
	wantKind(t, err, fault.Unavailable)
	unstored := token.Token{ID: token.ID(ident.New()), Owner: user.ID("x"), CreatedAt: now}
	wantKind(t, s.Tokens.Create(cancelled(t), nowhere, unrecorded, unstored), fault.Unavailable)
}
