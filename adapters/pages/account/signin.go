package account

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/mileusna/useragent"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// showSignIn shows the form, or redirects a reader who has signed in recently.
func (p *pages) showSignIn(w http.ResponseWriter, r *site.Request) error {
	next := site.LocalPath(r.URL.Query().Get("next"), site.PathPastes)
	if r.Recent() {
		return site.SeeOther(w, next)
	}
	return site.Show(w, r, p.signInView(signInLayout(r, next), ""), nil)
}

func signInLayout(r *site.Request, next string) site.Layout {
	page := r.Layout("Sign in", "")
	page.Here = next
	return page
}

// signIn begins a session if the form's access token is valid.
func (p *pages) signIn(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	secret, next := strings.TrimSpace(fields.Get("token")), site.LocalPath(fields.Get("next"), site.PathPastes)
	viewer, err := p.Modules.Tokens.SignIn.Do(r.Context(), secret)
	if err == nil {
		return p.begin(w, r, viewer.User.ID, viewer.Token, next)
	}
	if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	r.Rejected = true
	const wrong = "This access token is not valid: it may be mistyped, have expired, or have been revoked."
	return site.ShowAs(w, r, http.StatusUnauthorized, p.signInView(signInLayout(r, next), wrong))
}

// signOut ends the session. Its access token stays valid: it may be in use elsewhere.
func (p *pages) signOut(w http.ResponseWriter, r *site.Request) error {
	err := p.Modules.Tokens.SignOut.Do(r.Context(), site.CookieSecret(r.Request))
	site.SetSession(w, r.Request, "")
	return site.Done(w, "/", err)
}

// begin signs a user in with a new session, which ends with its parent token, if it has one, and redirects to the path next.
func (p *pages) begin(w http.ResponseWriter, r *site.Request, owner user.ID, parent token.Token, next string) error {
	secret, err := p.Modules.Tokens.StartSession.Do(r.Context(), owner, parent, browserOf(r.UserAgent()), site.CookieSecret(r.Request))
	if err != nil {
		return err
	}
	site.SetSession(w, r.Request, secret.Reveal())
	return site.SeeOther(w, site.LocalPath(next, site.PathPastes))
}

// browserOf describes the browser of a header User-Agent for people.
func browserOf(userAgent string) string {
	agent := useragent.Parse(userAgent)
	name := cmp.Or(agent.Name, "Unknown browser")
	if agent.OS != "" {
		name += " on " + agent.OS
	}
	if !ident.Printable(name, 64) {
		return "Unknown browser"
	}
	return name
}

const signUpCookie = "gluepot-sign-up"

func (p *pages) showSignUp(w http.ResponseWriter, r *site.Request) error {
	page, found, err := p.newcomer(r)
	site.KeepPrivate(w)
	return site.Show(w, r, p.signUpView(page, found, ""), err)
}

func (p *pages) newcomer(r *site.Request) (page site.Layout, found accounts.Newcomer, err error) {
	found, err = p.Modules.Accounts.ShowSignUp.Do(r.Context(), site.CookieValue(r.Request, signUpCookie))
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
	created, next, err := p.Modules.Accounts.SignUp.Do(r.Context(), site.CookieValue(r.Request, signUpCookie), found.Name)
	if err != nil {
		return site.FormAgain(w, r, err, p.signUpView(page, found, fault.MessageOf(err)))
	}
	site.SetCookie(w, r.Request, signUpCookie, "", 0)
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

// providerPath returns the path that leads to a provider. query is for the return.
func providerPath(source identity.Source, query url.Values) string {
	return site.PathSignIn + "/" + source.Name + "?" + query.Encode()
}

// attemptCookie returns the name of an attempt's cookie. A browser may have several attempts.
func attemptCookie(state string) string { return "gluepot-sign-in-" + state[:min(len(state), 8)] }

// Browsers send Sec-Fetch-Site only to HTTPS sites and to localhost.
var errFromElsewhere = fault.New(fault.Forbidden,
	"An account is linked from the page of your own accounts, over HTTPS. Open that page with https://, and try again.")

func (p *pages) toProvider(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	wanted := accounts.BeginInput{
		Source: r.PathValue("provider"), Next: site.LocalPath(query.Get("next"), site.PathPastes),
		Code: query.Get("invite"), Link: query.Has("link"),
	}
	if wanted.Link && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
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
	site.SetCookie(w, r.Request, attemptCookie(begun.State), begun.Secret, identity.AttemptAge)
	return site.SeeOther(w, begun.Address)
}

func (p *pages) callback(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	brought := identity.Callback{
		State: query.Get("state"), Code: query.Get("code"), Error: query.Get("error"), Issuer: query.Get("iss"),
	}
	cookie := attemptCookie(brought.State)
	arrived, err := p.Modules.Accounts.Arrive.Do(r.Context(), r.Viewer, r.PathValue("provider"), site.CookieValue(r.Request, cookie), brought)
	if err != nil {
		r.Rejected = !fault.Is(err, fault.Unavailable)
		return err
	}
	site.SetCookie(w, r.Request, cookie, "", 0)
	switch {
	case arrived.Secret != "":
		site.SetCookie(w, r.Request, signUpCookie, arrived.Secret, identity.AttemptAge)
		return site.SeeOther(w, site.PathSignUp)
	case arrived.Linked:
		return site.SeeOther(w, arrived.Next)
	}
	return p.begin(w, r, arrived.User.ID, token.Token{}, arrived.Next)
}

func (p *pages) identities(w http.ResponseWriter, r *site.Request) error {
	account, err := p.Modules.Users.ShowSelf.Do(r.Context(), r.Viewer)
	var others []identity.Source
	labels := make(map[string]string)
	for _, source := range p.Modules.Accounts.Providers.Do() {
		labels[source.Key] = source.Label
		if _, linked := account.Services[source.Key]; !linked {
			others = append(others, source)
		}
	}
	return site.Show(w, r, p.identitiesView(r.Layout("Your accounts elsewhere", ""), account.Services, labels, others), err)
}

func (p *pages) unlink(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	return site.Done(w, pathIdentities, p.Modules.Accounts.UnlinkOwn.Do(r.Context(), r.Viewer, fields.Get("unlink")))
}
