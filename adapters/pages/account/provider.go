package account

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
)

// providerLink is a button that leads to a provider. It is a link, because the policy forbids forms to redirect to other sites.
type providerLink struct{ Label, Path string }

// providers returns the buttons for all providers. query is for the return.
func (p *pages) providers(query url.Values) []providerLink {
	sources := p.Modules.Accounts.Providers.Do()
	links := make([]providerLink, len(sources))
	for i, source := range sources {
		links[i] = providerLink{source.Label, providerPath(source, query)}
	}
	return links
}

func providerPath(source identity.Source, query url.Values) string {
	return site.PathSignIn + "/" + source.Name + "?" + query.Encode()
}

// attemptCookie returns the name of an attempt's cookie. A browser may have several attempts.
func attemptCookie(r *http.Request, state string) string {
	return site.CookieName(r, "gluepot-sign-in-"+state[:min(len(state), 8)])
}

var errFromElsewhere = fault.New(fault.Forbidden, "An account is linked from the page of your own accounts. Open that, and try again.")

// Browsers send Sec-Fetch-Site only to HTTPS sites and to localhost.
var errFromUnknown = fault.New(fault.Forbidden,
	"Your browser does not tell which page this comes from. Linking an account needs HTTPS: open this site with https://, and try again.")

func (p *pages) toProvider(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	wanted := accounts.BeginInput{
		Source: r.PathValue("provider"), Next: site.LocalPath(query.Get("next"), site.PathPastes),
		Code: query.Get("invite"), Link: query.Has("link"),
	}
	switch from := r.Header.Get("Sec-Fetch-Site"); {
	case wanted.Link && from == "":
		return errFromUnknown
	case wanted.Link && from != "same-origin":
		return errFromElsewhere
	}
	if wanted.Link && !r.Recent() {
		return site.SignInFirst(w, pathIdentities)
	}
	begun, err := p.Modules.Accounts.Begin.Do(r.Context(), r.Viewer, wanted)
	if err != nil {
		r.Rejected = errors.Is(err, identity.ErrUsedUp)
		return err
	}
	site.SetCookie(w, r.Request, attemptCookie(r.Request, begun.State), begun.Secret, identity.AttemptAge)
	return site.SeeOther(w, begun.Address)
}

func (p *pages) callback(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	brought := identity.Callback{
		State: query.Get("state"), Code: query.Get("code"), Error: query.Get("error"), Issuer: query.Get("iss"),
	}
	cookie := attemptCookie(r.Request, brought.State)
	arrived, err := p.Modules.Accounts.Arrive.Do(r.Context(), r.Viewer, r.PathValue("provider"), site.CookieValue(r.Request, cookie), brought)
	if err != nil {
		r.Rejected = !fault.Is(err, fault.Unavailable)
		return err
	}
	site.SetCookie(w, r.Request, cookie, "", 0)
	switch {
	case arrived.Secret != "":
		site.SetCookie(w, r.Request, site.CookieName(r.Request, signUpCookie), arrived.Secret, identity.AttemptAge)
		return site.SeeOther(w, site.PathSignUp)
	case arrived.Linked:
		return site.SeeOther(w, arrived.Next)
	}
	return p.beginAndGo(w, r, arrived.User, arrived.Next)
}
