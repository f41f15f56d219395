package account

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

const signUpCookie = "gluepot-sign-up"

func (p *pages) beginAndGo(w http.ResponseWriter, r *site.Request, owner user.User, next string) error {
	if err := p.begin(w, r, owner.ID, token.Token{}); err != nil {
		return err
	}
	return site.SeeOther(w, site.LocalPath(next, site.PathPastes))
}

// signUpPage asks a newcomer for a name, after a provider has vouched for them.
type signUpPage struct {
	site.Layout

	Provider string
	Name     string
	Problem  string
}

func (p *pages) showSignUp(w http.ResponseWriter, r *site.Request) error {
	page, err := p.newSignUpPage(r)
	if err != nil {
		return err
	}
	site.KeepPrivate(w)
	return site.Show(w, r, p.signUpView(page))
}

func (p *pages) newSignUpPage(r *site.Request) (signUpPage, error) {
	found, err := p.Modules.Accounts.ShowSignUp.Do(r.Context(), site.CookieValue(r.Request, site.CookieName(r.Request, signUpCookie)))
	if err != nil {
		r.Rejected = fault.Is(err, fault.Invalid)
		return signUpPage{}, err
	}
	page := signUpPage{Layout: r.Layout("Choose a name", ""), Provider: found.Provider, Name: found.Name}
	page.Here = ""
	return page, nil
}

// signUp makes an account with the name that was chosen, or asks again.
func (p *pages) signUp(w http.ResponseWriter, r *site.Request) error {
	page, err := p.newSignUpPage(r)
	if err != nil {
		return err
	}
	fields, err := r.Fields()
	if err != nil {
		return err
	}
	cookie := site.CookieName(r.Request, signUpCookie)
	page.Name = fields.Get("name")
	created, next, err := p.Modules.Accounts.SignUp.Do(r.Context(), site.CookieValue(r.Request, cookie), page.Name)
	if err != nil {
		page.Problem = fault.MessageOf(err)
		return site.FormAgain(w, r, err, p.signUpView(page))
	}
	site.SetCookie(w, r.Request, cookie, "", 0)
	return p.beginAndGo(w, r, created, next)
}

func (p *pages) invite(w http.ResponseWriter, r *site.Request) error {
	code := r.PathValue("code")
	found, err := p.Modules.Accounts.Invite.Show(r.Context(), code)
	if err != nil {
		r.Rejected = errors.Is(err, identity.ErrUsedUp)
		return err
	}
	page := r.Layout("You are invited", "")
	page.Here = ""
	site.KeepPrivate(w)
	return site.Show(w, r, p.inviteView(page, found, p.providers(url.Values{"invite": {code}})))
}
