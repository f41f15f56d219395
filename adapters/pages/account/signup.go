package account

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

const signUpCookie = "gluepot-sign-up"

// showSignUp asks for a username, and unless a provider has confirmed the visitor for a password or passkey.
func (p *pages) showSignUp(w http.ResponseWriter, r *site.Request) error {
	if !p.fromProvider(r) {
		err := p.Modules.Accounts.Register.Check(r.Context(), "")
		return site.Show(w, r, p.joinView(newAccount(r), site.PathSignUp, "", ""), err)
	}
	page, newcomer, err := p.newcomer(r)
	site.KeepPrivate(w)
	return site.Show(w, r, p.signUpView(page, newcomer, ""), err)
}

func (p *pages) newcomer(r *site.Request) (page site.Layout, newcomer accounts.Newcomer, err error) {
	newcomer, err = p.Modules.Accounts.ShowSignUp.Do(r.Context(), site.CookieValue(r, signUpCookie))
	r.Rejected = fault.Is(err, fault.Invalid)
	page = r.Layout("Choose a username", "")
	page.Here = ""
	return page, newcomer, err
}

// fromProvider reports whether a visitor comes from a provider, or can sign up only by way of one.
func (p *pages) fromProvider(r *site.Request) bool {
	return site.CookieValue(r, signUpCookie) != "" || !p.Modules.Accounts.Register.Open()
}

// signUp creates an account with the chosen name, or asks again.
func (p *pages) signUp(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has("password") || fields.Has(fieldPasskey) {
		return p.join(w, r, fields)
	}
	page, newcomer, err := p.newcomer(r)
	if err != nil {
		return err
	}
	newcomer.Name = fields.Get("name")
	secret := site.CookieValue(r, signUpCookie)
	owner, next, err := p.Modules.Accounts.SignUp.Do(r.Context(), r.Actor(), secret, newcomer.Name)
	if err != nil {
		return site.FormAgain(w, r, err, p.signUpView(page, newcomer, fault.MessageOf(err)))
	}
	site.SetCookie(w, r, signUpCookie, "", 0)
	return p.begin(w, r, owner.ID, token.Token{}, next)
}

func newAccount(r *site.Request) site.Layout {
	page := r.Layout("Create an account", "")
	page.Here = ""
	return page
}

func (p *pages) invite(w http.ResponseWriter, r *site.Request) error {
	code := r.PathValue("code")
	invitation, err := p.Modules.Accounts.Invite.Show(r.Context(), code)
	r.Rejected = r.Rejected || errors.Is(err, identity.ErrInvitation)
	page := r.Layout("You are invited", "")
	page.Here = ""
	site.KeepPrivate(w)
	return site.Show(w, r, p.inviteView(page, invitation, code), err)
}

// join creates an account with a name and a password, and uses the invitation in the path, if there is one. Each
// attempt counts as a failed sign-in, so that no client creates many accounts or tries many names.
func (p *pages) join(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has(fieldPasskey) {
		return p.joinWithPasskey(w, r, fields)
	}
	r.Rejected = true
	code, name := r.PathValue("code"), fields.Get("name")
	var owner user.User
	password, err := newPassword(fields)
	if err == nil {
		owner, err = p.Modules.Accounts.Register.Do(r.Context(), r.Actor(), code, name, password)
	}
	if err != nil {
		return site.FormAgain(w, r, err, p.joinView(newAccount(r), joinPath(code), name, fault.MessageOf(err)))
	}
	return p.begin(w, r, owner.ID, token.Token{}, site.PathPastes)
}

// joinPath returns the path of the form that creates an account, with the code of an invitation or without.
func joinPath(code string) string {
	if code == "" {
		return site.PathSignUp
	}
	return site.PathInvite + code
}
