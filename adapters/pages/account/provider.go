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

// providerPath returns the path that leads to a provider. query says how to go on afterwards.
func providerPath(source identity.Provider, query url.Values) string {
	return site.PathSignIn + "/" + source.Name + "?" + query.Encode()
}

// attemptCookie returns the name of an attempt's cookie. A browser may have several attempts.
func attemptCookie(state string) string { return "gluepot-sign-in-" + state[:min(len(state), 8)] }

func (p *pages) toProvider(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	input := accounts.BeginInput{
		Provider: r.PathValue("provider"), Next: site.LocalPath(query.Get("next"), site.PathPastes),
		Code: query.Get("invite"),
	}
	attempt, err := p.Modules.Accounts.BeginSignIn.Do(r.Context(), r.Actor(), input)
	if err != nil {
		r.Rejected = errors.Is(err, identity.ErrInvitation)
		return err
	}
	site.SetCookie(w, r, attemptCookie(attempt.State), attempt.Secret, identity.AttemptAge)
	return p.SeeOther(w, attempt.Address)
}

func (p *pages) callback(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	answer := identity.Callback{
		State: query.Get("state"), Code: query.Get("code"), Error: query.Get("error"), Issuer: query.Get("iss"),
	}
	cookie := attemptCookie(answer.State)
	resume := func(ctx context.Context) (token.Viewer, error) {
		return p.Modules.Tokens.SignIn.Resume(ctx, site.CookieSecret(r))
	}
	arrival, err := p.Modules.Accounts.FinishSignIn.Do(
		r.Context(), r.Actor(), resume, r.PathValue("provider"), site.CookieValue(r, cookie), answer)
	if err != nil {
		r.Rejected = !fault.Is(err, fault.Unavailable)
		return err
	}
	site.SetCookie(w, r, cookie, "", 0)
	switch {
	case arrival.Secret != "":
		site.SetCookie(w, r, signUpCookie, arrival.Secret, identity.AttemptAge)
		return p.SeeOther(w, site.PathSignUp)
	case arrival.Linked:
		return p.SeeOther(w, arrival.Next)
	}
	return p.begin(w, r, arrival.User.ID, token.Token{}, arrival.Next)
}

// changeIdentities begins to link a provider, or unlinks one.
func (p *pages) changeIdentities(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has("link") {
		return p.link(w, r, fields.Get("link"))
	}
	return p.Done(w, pathIdentities, p.Modules.Accounts.Link.UndoOwn(r.Context(), r.Actor(), fields.Get("unlink")))
}

// link sends the browser to a provider. It answers with a page instead of a redirect, because the policy forbids forms
// to redirect to other sites.
func (p *pages) link(w http.ResponseWriter, r *site.Request, name string) error {
	input := accounts.BeginInput{Provider: name, Next: pathIdentities, Link: true}
	attempt, err := p.Modules.Accounts.BeginSignIn.Do(r.Context(), r.Actor(), input)
	if err != nil {
		return err
	}
	site.SetCookie(w, r, attemptCookie(attempt.State), attempt.Secret, identity.AttemptAge)
	w.Header().Set("Refresh", "0; url="+attempt.Address)
	return site.Show(w, r, p.leavingView(r.Layout("Link "+attempt.Label, ""), attempt.Label, attempt.Address), nil)
}
