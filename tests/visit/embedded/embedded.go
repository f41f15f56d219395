// Package embedded gives tests a site over an embedded database, for pages whose stores package fake does not have.
package embedded

import (
	"testing"

	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/bootstrap/gluepottest"
	"github.com/gluepot/gluepot/tests/fake"
	"github.com/gluepot/gluepot/tests/visit"
)

// New returns a site with an empty database, on which users may have passwords and readers may report pastes.
func New(t testing.TB) *visit.Site {
	t.Helper()
	cfg := gluepottest.SQLite(t)
	cfg.Accounts.Passwords = fake.Passwords{}
	app := gluepottest.Open(t, cfg)
	site, err := pages.New(pages.Config{Reports: true}, pages.Modules{
		Users: app.Users, Tokens: app.Tokens, Accounts: app.Accounts, Pastes: app.Pastes, Languages: app.Languages,
		Search: app.Search, Moderation: app.Moderation, Stats: app.Stats,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &visit.Site{T: t, Users: app.Users, Pastes: app.Pastes, Tokens: app.Tokens}
	s.Show(site)
	return s
}
