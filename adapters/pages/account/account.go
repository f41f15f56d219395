// Package account has the pages for signing in and for accounts.
package account

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

type pages struct {
	*site.Site

	exporting sync.Map // the user.ID of each user whose account is being exported
}

// Routes returns the routes of these pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{Site: s}
	return []site.Route{
		{
			Pattern: site.PathSignIn, Begins: true,
			Get: p.withPasskeys(p.showSignIn), Post: p.withPasskeys(site.Form(p.signIn)),
		},
		{Pattern: pathSignInPasskey, Post: site.Form(p.signInWithPasskey), Tries: true, Begins: true},
		{Pattern: site.PathSignIn + "/:provider", Get: p.toProvider, Tries: true},
		{Pattern: site.PathSignIn + "/:provider/callback", Get: p.callback, Tries: true},
		{Pattern: site.PathSignUp, Get: p.withPasskeys(p.showSignUp), Post: p.withPasskeys(site.Form(p.signUp)), Tries: true},
		{
			Pattern: site.PathInvite + ":code", Tries: true, Begins: true,
			Get: p.withPasskeys(p.invite), Post: p.withPasskeys(site.Form(p.join)),
		},
		{
			Pattern: site.PathSetup + ":code", Tries: true, Begins: true,
			Get: p.withPasskeys(p.showSetup), Post: p.withPasskeys(site.Form(p.setUp)),
		},
		{
			Pattern: site.PathReset + ":code", Tries: true, Begins: true,
			Get: p.withPasskeys(p.showReset), Post: p.withPasskeys(site.Form(p.reset)),
		},
		{Pattern: "/sign-out", Post: p.signOut, Everyone: true},
		{Pattern: site.PathAccount, Get: p.SignedIn(p.account), Post: p.SignedIn(site.OwnForm(p.changeAccount))},
		{
			Pattern: pathDelete, Get: p.SignedIn(p.accountDeletion),
			Post: p.Recently(pathDelete, site.OwnForm(p.deleteAccount)),
		},
		{Pattern: pathExport, Post: p.Recently(site.PathAccount, site.OwnForm(p.export)), Reads: true},
		{
			Pattern: pathTokens, Get: p.SignedIn(p.accountTokens),
			Post: p.Recently(pathTokens, site.OwnForm(p.changeTokens)),
		},
		{Pattern: pathSessions, Get: p.SignedIn(p.accountSessions), Post: p.SignedIn(site.OwnForm(p.endSession))},
		{
			Pattern: pathSecurity, Get: p.withPasskeys(p.SignedIn(p.security)),
			Post: p.withPasskeys(p.SignedIn(site.OwnForm(p.changePassword))),
		},
		{Pattern: pathPasskeys, Post: p.withPasskeys(p.Recently(pathSecurity, site.OwnForm(p.changePasskeys)))},
		{
			Pattern: pathIdentities, Get: p.withPasskeys(p.SignedIn(p.security)),
			Post: p.Recently(pathIdentities, site.OwnForm(p.changeIdentities)),
		},
	}
}

const (
	pathDelete     = site.PathAccount + "/delete"
	pathExport     = site.PathAccount + "/export"
	pathTokens     = site.PathAccount + "/tokens"
	pathSessions   = site.PathAccount + "/sessions"
	pathSecurity   = site.PathAccount + "/security"
	pathIdentities = site.PathAccount + "/identities"
)

func (p *pages) account(w http.ResponseWriter, r *site.Request) error {
	profile := profileOf(r.Viewer.User)
	return site.Show(w, r, p.accountView(r.Layout("Your account", ""), profile, baseOf(profile), "",
		r.URL.Query().Has("saved")), nil)
}

func profileOf(u user.User) users.Profile {
	return users.Profile{
		Name: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLanguage: u.DefaultLanguage,
		PublicProfile: u.PublicProfile, ShowTags: u.ShowTags,
	}
}

// baseOf returns a hash of a profile. A form carries it, to tell whether the profile has changed since.
func baseOf(profile users.Profile) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%#v", profile)))
}

var errChanged = fault.New(fault.Conflict,
	"Your profile has changed since you opened this page, perhaps in another tab. "+
		"Nothing is saved yet. Save again to keep what you see here, or reload the page to see your current profile.")

// changeAccount saves the profile. A new name needs a recent sign-in.
func (p *pages) changeAccount(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	profile := users.Profile{
		Name: fields.Get("name"), AvatarURL: fields.Get("avatar"), DefaultLanguage: fields.Get("language"),
		PublicProfile: fields.Has("public"), ShowTags: fields.Has("tags"),
	}
	if profile.Name != r.Viewer.User.Name.String() && !r.Recent() {
		return p.SignInFirst(w, site.PathAccount)
	}
	current, err := baseOf(profileOf(r.Viewer.User)), error(errChanged)
	if formBase := fields.Get("base"); formBase == "" || formBase == current {
		err = p.Modules.Users.Update.Own(r.Context(), r.Actor(), profile)
	}
	if err != nil {
		return site.FormAgain(w, r, err, p.accountView(r.Layout("Your account", ""), profile, current,
			fault.MessageOf(err), false))
	}
	return p.SeeOther(w, site.PathAccount+"?saved")
}

func (p *pages) accountDeletion(w http.ResponseWriter, r *site.Request) error {
	return site.Show(w, r, p.deleteAccountView(r.Layout("Delete your account", ""), ""), nil)
}

// deleteAccount deletes the account if the form has its name.
func (p *pages) deleteAccount(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	keep := fields.Get("pastes") == "anonymous"
	if !keep && fields.Get("pastes") != "delete" {
		return site.ErrBrokenForm
	}
	err := p.Modules.Users.Delete.Own(r.Context(), r.Actor(), fields.Get("name"), keep)
	if err != nil {
		return site.FormAgain(w, r, err, p.deleteAccountView(r.Layout("Delete your account", ""), fault.MessageOf(err)))
	}
	site.SetSession(w, r, "")
	return p.SeeOther(w, "/")
}
