package program

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// The tokens of the fixture.
const (
	EpoxyToken   = "kept+from/the=old-server_0123456789ABCDEFGHIJ" // made by another program
	MortarToken  = "mortar's token"                                // printable, with a space
	ExpiredToken = "expired"
	RevokedToken = "revoked"
)

// Fixture stores the data of the cases. The users Epoxy, putty and ep_xy.a-b have public profiles; mortar has not.
// Epoxy has services, stars and pastes, which are unlisted and empty: Epoxy and ep_xy.a-b starred oldest01, tie0000a
// and tie0000b were created in the same second, expires1 expires in an hour, and expired1 has expired. The paste
// nobodys1 is anonymous.
func Fixture(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	store := database.Open(t, cfg)
	identities, tokens, pastes := gormstore.NewIdentities(store), gormstore.NewTokens(store), gormstore.NewPastes(store)
	ctx, now := context.Background(), time.Now()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	created := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, u := range []struct {
		user     user.User
		name     string
		services map[string]string
	}{
		{user.User{
			ID: "epoxy001", AvatarURL: "https://example.com/a?b=<c>&d", DefaultLanguage: "C++", PublicProfile: true,
			SupporterMonths: 24, Contributor: true,
		}, "Epoxy", map[string]string{"github": "4815162342", "gitlab": "108"}},
		{user.User{ID: "putty001", DefaultLanguage: "Autodetect", PublicProfile: true}, "putty", nil},
		{user.User{ID: "mortar01", DefaultLanguage: "Go"}, "mortar", map[string]string{"github": "23"}},
		{user.User{ID: "prefix01", DefaultLanguage: "Go", PublicProfile: true}, "ep_xy.a-b", nil},
	} {
		var err error
		u.user.Name, err = user.ParseName(u.name)
		check(err)
		u.user.CreatedAt = created
		credentials := identity.Credentials{Identities: u.services}
		check(identities.Enroll(ctx, netip.Addr{}, auditlog.Entry{}, u.user, credentials, identity.Admission{}))
	}
	for _, k := range []struct {
		text             string
		owner            user.ID
		expires, revoked time.Time
	}{
		{EpoxyToken, "epoxy001", now.Add(time.Hour), time.Time{}},
		{MortarToken, "mortar01", time.Time{}, time.Time{}},
		{ExpiredToken, "epoxy001", now.Add(-time.Minute), time.Time{}},
		{RevokedToken, "epoxy001", time.Time{}, now.Add(-time.Minute)},
	} {
		secret, err := token.ParseSecret(k.text)
		check(err)
		check(tokens.Create(ctx, netip.Addr{}, auditlog.Entry{}, token.Token{
			ID: token.ID("id-" + k.owner + user.ID(k.text[:2])), Owner: k.owner, Hash: secret.Hash(), CreatedAt: created,
			ExpiresAt: k.expires, RevokedAt: k.revoked,
		}))
	}
	for _, p := range []paste.Paste{
		{ID: "oldest01", Owner: "epoxy001", CreatedAt: created},
		{ID: "tie0000a", Owner: "epoxy001", CreatedAt: created.Add(time.Hour)},
		{ID: "tie0000b", Owner: "epoxy001", CreatedAt: created.Add(time.Hour)},
		{ID: "expires1", Owner: "epoxy001", CreatedAt: created.Add(2 * time.Hour), ExpiresAt: now.Add(time.Hour)},
		{ID: "expired1", Owner: "epoxy001", CreatedAt: created.Add(3 * time.Hour), ExpiresAt: created.Add(4 * time.Hour)},
		{ID: "nobodys1", CreatedAt: created},
	} {
		check(pastes.CreateDocument(ctx, paste.Document{Paste: p}))
	}
	for _, id := range []paste.ID{"nobodys1", "missing1", "expired1", "oldest01"} {
		check(pastes.Star(ctx, netip.Addr{}, "epoxy001", id))
	}
	check(pastes.Star(ctx, netip.Addr{}, "prefix01", "oldest01"))
}
