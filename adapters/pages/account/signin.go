package account

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/mileusna/useragent"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// showSignIn shows the form, or redirects a reader who has signed in recently.
func (p *pages) showSignIn(w http.ResponseWriter, r *site.Request) error {
	next := site.LocalPath(r.URL.Query().Get("next"), site.PathPastes)
	if r.Recent() {
		return p.SeeOther(w, next)
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
	err := p.Modules.Tokens.Sessions.EndPresented(r.Context(), site.CookieSecret(r))
	site.SetSession(w, r, "")
	return p.Done(w, "/", err)
}

// begin signs a user in with a new session, which ends with its parent token, if it has one, and redirects to the path next.
func (p *pages) begin(w http.ResponseWriter, r *site.Request, owner user.ID, parent token.Token, next string) error {
	secret, err := p.Modules.Tokens.Sessions.Start(r.Context(), owner, parent, browserOf(r.UserAgent()), site.CookieSecret(r))
	if err != nil {
		return err
	}
	site.SetSession(w, r, secret.Reveal())
	return p.SeeOther(w, site.LocalPath(next, site.PathPastes))
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
