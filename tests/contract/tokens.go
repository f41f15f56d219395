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
	tok, holder, err := s.Tokens.ByHash(t.Context(), full.Hash)
	must(t, err)
	full.CreatedAt, full.ExpiresAt = full.CreatedAt.UTC(), full.ExpiresAt.UTC()
	full.LastUsedAt, full.RevokedAt = full.LastUsedAt.UTC(), full.RevokedAt.UTC()
	want(t, "token", tok, full)
	owner.CreatedAt = owner.CreatedAt.UTC()
	want(t, "owner", holder, owner)
	tok, holder, err = s.Tokens.ByHash(t.Context(), bare.Hash)
	must(t, err)
	bare.CreatedAt = bare.CreatedAt.UTC()
	want(t, "token that never expires", tok, bare)
	want(t, "its owner", holder, owner)
}

func unknownToken(t *testing.T, s Store) {
	storedToken(t, s, storedUser(t, s, "owner").ID)
	for _, hash := range []token.Hash{{}, token.Generate().Hash()} {
		tok, owner, err := s.Tokens.ByHash(t.Context(), hash)
		wantKind(t, err, fault.NotFound)
		want(t, "token", tok, token.Token{})
		want(t, "owner", owner, user.User{})
	}
}

// tokenOwner changes the owner, who is found as the owner is then.
func tokenOwner(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	created, others := storedToken(t, s, owner.ID), storedToken(t, s, other.ID)
	updated, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, owner.ID,
		func(u *user.User, _ map[string]string) error {
			u.Name, u.AvatarURL, u.PublicProfile = parseName(t, "Renamed"), "", false
			return nil
		})
	must(t, err)
	for hash, expected := range map[token.Hash]user.ID{created.Hash: owner.ID, others.Hash: other.ID} {
		tok, holder, err := s.Tokens.ByHash(t.Context(), hash)
		must(t, err)
		want(t, "owner's id with the token", tok.Owner, expected)
		want(t, "owner's id", holder.ID, expected)
		if expected == owner.ID {
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
	created := storedToken(t, s, storedUser(t, s, "owner").ID)
	for _, step := range []struct{ at, kept time.Time }{
		{now, now},
		{now.Add(time.Minute), now.Add(time.Minute)},
		{now, now.Add(time.Minute)},
	} {
		must(t, s.Tokens.SetLastUsed(t.Context(), map[token.ID]time.Time{created.ID: step.at, "unknown": step.at}))
		tok, _, err := s.Tokens.ByHash(t.Context(), created.Hash)
		must(t, err)
		want(t, "last used", tok.LastUsedAt, step.kept.UTC())
	}
}

func cancelledToken(t *testing.T, s Store) {
	created := storedToken(t, s, storedUser(t, s, "owner").ID)
	_, _, err := s.Tokens.ByHash(cancelled(t), created.Hash)
	wantKind(t, err, fault.Unavailable)
	unstored := token.Token{ID: token.ID(ident.New()), Owner: user.ID("x"), CreatedAt: now}
	wantKind(t, s.Tokens.Create(cancelled(t), nowhere, unrecorded, unstored), fault.Unavailable)
}
