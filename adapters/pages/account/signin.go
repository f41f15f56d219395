package account

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/mileusna/useragent"

	"github.com/gluepot/gluepot/adapters/pages/site"
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
		return p.SeeOther(w, next)
	}
	return site.Show(w, r, p.signInView(signInLayout(r, next), signInForm{}), nil)
}

// signInForm has the name of a submitted form, and the problem of each form.
type signInForm struct{ name, problem, tokenProblem string }

func signInLayout(r *site.Request, next string) site.Layout {
	page := r.Layout("Sign in", "")
	page.Here = next
	return page
}

// signIn begins a session if the form's password or access token is valid.
func (p *pages) signIn(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has("password") {
		return p.signInWithPassword(w, r, fields)
	}
	secret, next := strings.TrimSpace(fields.Get("token")), site.LocalPath(fields.Get("next"), site.PathPastes)
	viewer, err := p.Modules.Tokens.SignIn.Do(r.Context(), secret)
	if err == nil {
		return p.begin(w, r, viewer.User.ID, viewer.Token, next)
	}
	if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	r.Rejected = true
	const wrong = "This access token is not valid. It may be mistyped, expired or revoked."
	return site.ShowAs(w, r, http.StatusUnauthorized, p.signInView(signInLayout(r, next), signInForm{tokenProblem: wrong}))
}

func (p *pages) signInWithPassword(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	next := site.LocalPath(fields.Get("next"), site.PathPastes)
	form := signInForm{name: strings.TrimSpace(fields.Get("name"))}
	var secret token.Secret
	err := p.Modules.Accounts.Passwords.SignIn(r.Context(), r.Actor(), form.name, fields.Get("password"),
		func(owner user.ID) (end func(context.Context) error, err error) {
			secret, err = p.start(r, owner, token.Token{})
			return func(ctx context.Context) error {
				return p.Modules.Tokens.Sessions.EndBySecret(ctx, r.Actor(), secret.Reveal())
			}, err
		})
	switch {
	case err == nil:
		return p.openSession(w, r, secret, next)
	case errors.Is(err, identity.ErrWrongPassword):
		r.Rejected, form.problem = true, fault.MessageOf(err)
		return site.ShowAs(w, r, http.StatusUnauthorized, p.signInView(signInLayout(r, next), form))
	case errors.Is(err, identity.ErrTooManyGuesses):
		form.problem = fault.MessageOf(err)
		return outOfGuesses(w, r, p.signInView(signInLayout(r, next), form))
	}
	return err
}

// signOut ends the session. Its access token stays valid: it may be in use elsewhere.
func (p *pages) signOut(w http.ResponseWriter, r *site.Request) error {
	err := p.Modules.Tokens.Sessions.EndBySecret(r.Context(), r.Actor(), site.CookieSecret(r))
	site.SetSession(w, r, "")
	return p.Done(w, "/", err)
}

// begin signs a user in with a new session, which ends with its parent token, if it has one, and redirects to the path
// next.
func (p *pages) begin(w http.ResponseWriter, r *site.Request, owner user.ID, parent token.Token, next string) error {
	secret, err := p.start(r, owner, parent)
	if err != nil {
		return err
	}
	return p.openSession(w, r, secret, next)
}

// start begins a session in place of the browser's current one.
func (p *pages) start(r *site.Request, owner user.ID, parent token.Token) (token.Secret, error) {
	browser, replaces := browserOf(r.UserAgent()), site.CookieSecret(r)
	return p.Modules.Tokens.Sessions.Start(r.Context(), r.Actor(), owner, parent, browser, replaces)
}

// openSession gives the browser a session, and redirects to the path next.
func (p *pages) openSession(w http.ResponseWriter, r *site.Request, secret token.Secret, next string) error {
	site.SetSession(w, r, secret.Reveal())
	return p.SeeOther(w, site.LocalPath(next, site.PathPastes))
}

// browserOf describes the browser of a User-Agent header for people.
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

// tokenCompletion keeps password managers from filling a password into the field for a token if the page has both.
func tokenCompletion(passwords bool) string {
	if passwords {
		return "off"
	}
	return "current-password"
}
