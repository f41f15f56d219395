package account

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
)

// providerPath returns the path that leads to a provider. query is for the return.
func providerPath(source identity.Provider, query url.Values) string {
	return site.PathSignIn + "/" + source.Name + "?" + query.Encode()
}

// attemptCookie returns the name of an attempt's cookie. A browser may have several attempts.
func attemptCookie(state string) string { return "gluepot-sign-in-" + state[:min(len(state), 8)] }

func (p *pages) toProvider(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	wanted := accounts.BeginInput{
		Provider: r.PathValue("provider"), Next: site.LocalPath(query.Get("next"), site.PathPastes),
		Code: query.Get("invite"),
	}
	begun, err := p.Modules.Accounts.BeginSignIn.Do(r.Context(), r.Actor(), wanted)
	if err != nil {
		r.Rejected = errors.Is(err, identity.ErrInvitation)
		return err
	}
	site.SetCookie(w, r, attemptCookie(begun.State), begun.Secret, identity.AttemptAge)
	return p.SeeOther(w, begun.Address)
}

func (p *pages) callback(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	brought := identity.Callback{
		State: query.Get("state"), Code: query.Get("code"), Error: query.Get("error"), Issuer: query.Get("iss"),
	}
	cookie := attemptCookie(brought.State)
	resume := func(ctx context.Context) (token.Viewer, error) {
		return p.Modules.Tokens.SignIn.Resume(ctx, site.CookieSecret(r))
	}
	arrived, err := p.Modules.Accounts.FinishSignIn.Do(
		r.Context(), r.Actor(), resume, r.PathValue("provider"), site.CookieValue(r, cookie), brought)
	if err != nil {
		r.Rejected = !fault.Is(err, fault.Unavailable)
		return err
	}
	site.SetCookie(w, r, cookie, "", 0)
	switch {
	case arrived.Secret != "":
		site.SetCookie(w, r, signUpCookie, arrived.Secret, identity.AttemptAge)
		return p.SeeOther(w, site.PathSignUp)
	case arrived.Linked:
		return p.SeeOther(w, arrived.Next)
	}
	return p.begin(w, r, arrived.User.ID, token.Token{}, arrived.Next)
}

// changeIdentities begins to link a provider, or unlinks one.
func (p *pages) changeIdentities(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has("link") {
		return p.link(w, r, fields.Get("link"))
	}
	return p.Done(w, pathIdentities, p.Modules.Accounts.Link.UndoOwn(r.Context(), r.Actor(), fields.Get("unlink")))
}

// link sends the browser to a provider. The answer is a page, not a redirect: the policy forbids forms to redirect to
// other sites.
func (p *pages) link(w http.ResponseWriter, r *site.Request, name string) error {
	wanted := accounts.BeginInput{Provider: name, Next: pathIdentities, Link: true}
	begun, err := p.Modules.Accounts.BeginSignIn.Do(r.Context(), r.Actor(), wanted)
	if err != nil {
		return err
	}
	site.SetCookie(w, r, attemptCookie(begun.State), begun.Secret, identity.AttemptAge)
	w.Header().Set("Refresh", "0; url="+begun.Address)
	return site.Show(w, r, p.leavingView(r.Layout("Link "+begun.Label, ""), begun.Label, begun.Address), nil)
}
