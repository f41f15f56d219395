// Package account has the pages for signing in and for accounts.
package account

import (
	"github.com/gluepot/gluepot/adapters/pages/site"
)

type pages struct{ *site.Site }

// Routes returns the pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s}
	return []site.Route{
		{Pattern: site.PathSignIn, Get: p.showSignIn, Post: site.Form(p.signIn)},
		{Pattern: site.PathSignIn + "/:provider", Get: p.toProvider, Tries: true},
		{Pattern: site.PathSignIn + "/:provider/callback", Get: p.callback, Tries: true},
		{Pattern: site.PathSignUp, Get: p.showSignUp, Post: site.Form(p.signUp), Tries: true},
		{Pattern: site.PathInvite + ":code", Get: p.invite, Tries: true},
		{Pattern: "/sign-out", Post: p.signOut, Everyone: true, Unblocked: true},
		{Pattern: site.PathAccount, Get: site.SignedIn(p.account), Post: site.SignedIn(site.Form(p.changeAccount))},
		{Pattern: pathDelete, Get: site.SignedIn(p.accountDeletion), Post: site.Recently(pathDelete, site.Form(p.deleteAccount))},
		{Pattern: pathExport, Get: site.SignedIn(site.Recently(site.PathAccount, p.export))},
		{Pattern: pathTokens, Get: site.SignedIn(p.accountTokens), Post: site.Recently(pathTokens, site.Form(p.changeTokens))},
		{Pattern: pathSessions, Get: site.SignedIn(p.accountSessions), Post: site.SignedIn(site.Form(p.endSession))},
		{Pattern: pathIdentities, Get: site.SignedIn(p.identities), Post: site.Recently(pathIdentities, site.Form(p.unlink))},
	}
}

const (
	pathDelete     = site.PathAccount + "/delete"
	pathExport     = site.PathAccount + "/export"
	pathTokens     = site.PathAccount + "/tokens"
	pathSessions   = site.PathAccount + "/sessions"
	pathIdentities = site.PathAccount + "/identities"
)
