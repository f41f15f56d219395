package pages

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

const (
	pathSignUp = "/sign-up"
	pathInvite = "/invite/"

	signUpCookie = "gluepot-sign-up"
)

// providerLink is a button that leads to a provider. It is a link: a form could not be redirected to another site.
type providerLink struct{ Label, Path string }

// providers returns the buttons for all providers, with what is to be known when the reader comes back.
func (p *Pages) providers(query url.Values) []providerLink {
	sources := p.modules.Accounts.Providers.Do()
	links := make([]providerLink, len(sources))
	for i, source := range sources {
		links[i] = providerLink{source.Label, providerPath(source, query)}
	}
	return links
}

func providerPath(source identity.Source, query url.Values) string {
	return pathSignIn + "/" + source.Name + "?" + query.Encode()
}

// attemptCookie is the name of the cookie of an attempt: one for each, as a browser may begin several.
func attemptCookie(r *http.Request, state string) string {
	return cookieName(r, "gluepot-sign-in-"+state[:min(len(state), 8)])
}

var errFromElsewhere = fault.New(fault.Forbidden, "An account is linked from the page of your own accounts. Open that, and try again.")

// toProvider sends the browser to a provider.
func (p *Pages) toProvider(w http.ResponseWriter, r *request) error {
	query := r.URL.Query()
	wanted := accounts.BeginInput{
		Source: r.PathValue("provider"), Next: localPath(query.Get("next"), pathPastes), Code: query.Get("invite"), Link: query.Has("link"),
	}
	if wanted.Link && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return errFromElsewhere
	}
	if wanted.Link && !recently(w, r, pathIdentities) {
		return nil
	}
	begun, err := p.modules.Accounts.Begin.Do(r.Context(), r.viewer, wanted)
	if err != nil {
		r.rejected = errors.Is(err, identity.ErrUsedUp)
		return err
	}
	setCookie(w, r.Request, attemptCookie(r.Request, begun.State), begun.Secret, identity.AttemptAge)
	seeOther(w, begun.Address)
	return nil
}

// callback takes a reader who comes back from a provider.
func (p *Pages) callback(w http.ResponseWriter, r *request) error {
	query := r.URL.Query()
	brought := identity.Callback{
		State: query.Get("state"), Code: query.Get("code"), Error: query.Get("error"), Issuer: query.Get("iss"),
	}
	cookie := attemptCookie(r.Request, brought.State)
	arrived, err := p.modules.Accounts.Arrive.Do(r.Context(), r.viewer, r.PathValue("provider"), cookieValue(r.Request, cookie), brought)
	if err != nil {
		r.rejected = !fault.Is(err, fault.Unavailable)
		return err
	}
	setCookie(w, r.Request, cookie, "", 0)
	switch {
	case arrived.Secret != "":
		setCookie(w, r.Request, cookieName(r.Request, signUpCookie), arrived.Secret, identity.AttemptAge)
		seeOther(w, pathSignUp)
		return nil
	case arrived.Linked:
		seeOther(w, arrived.Next)
		return nil
	}
	return p.beginAndGo(w, r, arrived.User, arrived.Next)
}

// beginAndGo begins the session of a user, and goes on to a path.
func (p *Pages) beginAndGo(w http.ResponseWriter, r *request, owner user.User, next string) error {
	if err := p.begin(w, r, owner.ID, token.Token{}); err != nil {
		return err
	}
	seeOther(w, localPath(next, pathPastes))
	return nil
}

// signUpPage asks a newcomer for whom a provider has vouched for a name.
type signUpPage struct {
	layout

	Provider string
	Name     string
	Problem  string
}

func (p *Pages) showSignUp(w http.ResponseWriter, r *request) error {
	page, err := p.newSignUpPage(r)
	if err != nil {
		return err
	}
	w.Header()["Cache-Control"] = privateCaching
	return show(w, r, p.signUpView(page))
}

func (p *Pages) newSignUpPage(r *request) (signUpPage, error) {
	found, err := p.modules.Accounts.ShowSignUp.Do(r.Context(), cookieValue(r.Request, cookieName(r.Request, signUpCookie)))
	if err != nil {
		r.rejected = fault.Is(err, fault.Invalid)
		return signUpPage{}, err
	}
	page := signUpPage{layout: r.layout("Choose a name", ""), Provider: found.Provider, Name: found.Name}
	page.Here = ""
	return page, nil
}

// signUp makes an account with the name that was chosen, or asks again.
func (p *Pages) signUp(w http.ResponseWriter, r *request) error {
	page, err := p.newSignUpPage(r)
	if err != nil {
		return err
	}
	fields, err := r.form(1)
	if err != nil {
		return err
	}
	cookie := cookieName(r.Request, signUpCookie)
	page.Name = fields.Get("name")
	created, next, err := p.modules.Accounts.SignUp.Do(r.Context(), cookieValue(r.Request, cookie), page.Name)
	if err != nil {
		page.Problem = fault.MessageOf(err)
		return formAgain(w, r, err, func() error {
			return write(r.Context(), w, p.signUpView(page))
		})
	}
	setCookie(w, r.Request, cookie, "", 0)
	return p.beginAndGo(w, r, created, next)
}

// invitePage shows an invitation.
type invitePage struct {
	layout

	Note      string
	Until     time.Time
	Providers []providerLink
}

func (p *Pages) invite(w http.ResponseWriter, r *request) error {
	code := r.PathValue("code")
	found, err := p.modules.Accounts.ShowInvitation.Do(r.Context(), code)
	if err != nil {
		r.rejected = errors.Is(err, identity.ErrUsedUp)
		return err
	}
	page := invitePage{
		layout: r.layout("You are invited", ""), Note: found.Note, Until: found.ExpiresAt, Providers: p.providers(url.Values{"invite": {code}}),
	}
	page.Here = ""
	w.Header()["Cache-Control"] = privateCaching
	return show(w, r, p.inviteView(page))
}
