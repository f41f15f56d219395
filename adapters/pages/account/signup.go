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
)

const signUpCookie = "gluepot-sign-up"

func (p *pages) showSignUp(w http.ResponseWriter, r *site.Request) error {
	page, found, err := p.newcomer(r)
	site.KeepPrivate(w)
	return site.Show(w, r, p.signUpView(page, found, ""), err)
}

func (p *pages) newcomer(r *site.Request) (page site.Layout, found accounts.Newcomer, err error) {
	found, err = p.Modules.Accounts.ShowSignUp.Do(r.Context(), site.CookieValue(r, signUpCookie))
	r.Rejected = fault.Is(err, fault.Invalid)
	page = r.Layout("Choose a name", "")
	page.Here = ""
	return page, found, err
}

// signUp makes an account with the name that was chosen, or asks again.
func (p *pages) signUp(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	page, found, err := p.newcomer(r)
	if err != nil {
		return err
	}
	found.Name = fields.Get("name")
	created, next, err := p.Modules.Accounts.SignUp.Do(r.Context(), site.CookieValue(r, signUpCookie), found.Name)
	if err != nil {
		return site.FormAgain(w, r, err, p.signUpView(page, found, fault.MessageOf(err)))
	}
	site.SetCookie(w, r, signUpCookie, "", 0)
	return p.begin(w, r, created.ID, token.Token{}, next)
}

func (p *pages) invite(w http.ResponseWriter, r *site.Request) error {
	code := r.PathValue("code")
	found, err := p.Modules.Accounts.Invite.Show(r.Context(), code)
	r.Rejected = r.Rejected || errors.Is(err, identity.ErrUsedUp)
	page := r.Layout("You are invited", "")
	page.Here = ""
	site.KeepPrivate(w)
	return site.Show(w, r, p.inviteView(page, found, code), err)
}
