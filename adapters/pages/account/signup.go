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

// showSignUp asks for a name: for that alone after a provider has vouched for the visitor.
func (p *pages) showSignUp(w http.ResponseWriter, r *site.Request) error {
	if !p.vouched(r) {
		err := p.Modules.Accounts.Register.Check(r.Context(), "")
		return site.Show(w, r, p.joinView(newAccount(r), site.PathSignUp, "", ""), err)
	}
	page, found, err := p.newcomer(r)
	site.KeepPrivate(w)
	return site.Show(w, r, p.signUpView(page, found, ""), err)
}

func (p *pages) newcomer(r *site.Request) (page site.Layout, found accounts.Newcomer, err error) {
	found, err = p.Modules.Accounts.ShowSignUp.Do(r.Context(), site.CookieValue(r, signUpCookie))
	r.Rejected = fault.Is(err, fault.Invalid)
	page = r.Layout("Choose a username", "")
	page.Here = ""
	return page, found, err
}

// vouched reports whether a visitor has come from a provider, or only a provider can let visitors sign up.
func (p *pages) vouched(r *site.Request) bool {
	return site.CookieValue(r, signUpCookie) != "" || !p.Modules.Accounts.Register.Open()
}

// signUp makes an account with the name that was chosen, or asks again.
func (p *pages) signUp(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has("password") || fields.Has(fieldPasskey) {
		return p.join(w, r, fields)
	}
	page, found, err := p.newcomer(r)
	if err != nil {
		return err
	}
	found.Name = fields.Get("name")
	secret := site.CookieValue(r, signUpCookie)
	created, next, err := p.Modules.Accounts.SignUp.Do(r.Context(), r.Actor(), secret, found.Name)
	if err != nil {
		return site.FormAgain(w, r, err, p.signUpView(page, found, fault.MessageOf(err)))
	}
	site.SetCookie(w, r, signUpCookie, "", 0)
	return p.begin(w, r, created.ID, token.Token{}, next)
}

func newAccount(r *site.Request) site.Layout {
	page := r.Layout("Create an account", "")
	page.Here = ""
	return page
}

func (p *pages) invite(w http.ResponseWriter, r *site.Request) error {
	code := r.PathValue("code")
	found, err := p.Modules.Accounts.Invite.Show(r.Context(), code)
	r.Rejected = r.Rejected || errors.Is(err, identity.ErrInvitation)
	page := r.Layout("You are invited", "")
	page.Here = ""
	site.KeepPrivate(w)
	return site.Show(w, r, p.inviteView(page, found, code), err)
}

// join makes an account with a name and a password, with the code of an invitation if the path has one. Each attempt
// counts as a failed sign-in, so that no client makes many accounts or tries many names.
func (p *pages) join(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has(fieldPasskey) {
		return p.joinWithPasskey(w, r, fields)
	}
	r.Rejected = true
	code, name := r.PathValue("code"), fields.Get("name")
	var created user.User
	password, err := newPassword(fields)
	if err == nil {
		created, err = p.Modules.Accounts.Register.Do(r.Context(), r.Actor(), code, name, password)
	}
	if err != nil {
		return site.FormAgain(w, r, err, p.joinView(newAccount(r), joinPath(code), name, fault.MessageOf(err)))
	}
	return p.begin(w, r, created.ID, token.Token{}, site.PathPastes)
}

// joinPath returns where an account is made: with the code of an invitation, or without.
func joinPath(code string) string {
	if code == "" {
		return site.PathSignUp
	}
	return site.PathInvite + code
}
