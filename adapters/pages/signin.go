package pages

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

const (
	pathSignIn  = "/sign-in"
	pathPastes  = "/pastes"
	pathStarred = "/starred"
	pathOEmbed  = "/oembed"
)

// signInPage asks for an access token. It never repeats one that was sent.
type signInPage struct {
	layout

	Providers []providerLink
	Next      string // the path to go on to
	Wrong     bool   // what was sent is no valid token
	Days      int    // for which the session lasts when it is not used
}

// showSignIn shows the form. A reader who has just signed in is sent on.
func (p *Pages) showSignIn(w http.ResponseWriter, r *request) error {
	next := localPath(r.URL.Query().Get("next"), pathPastes)
	if r.viewer.SignedInRecently(time.Now()) {
		seeOther(w, next)
		return nil
	}
	return show(w, r, p.signInView(p.newSignInPage(r, next)))
}

func (p *Pages) newSignInPage(r *request, next string) signInPage {
	page := signInPage{
		layout: r.layout("Sign in", ""), Providers: p.providers(url.Values{"next": {next}}), Next: next,
		Days: int(token.SessionIdle.Hours() / 24),
	}
	page.Here = next
	return page
}

// signIn begins a session with the access token that the form brings, if it is valid.
func (p *Pages) signIn(w http.ResponseWriter, r *request) error {
	fields, err := r.form(2)
	if err != nil {
		return err
	}
	secret, next := strings.TrimSpace(fields.Get("token")), localPath(fields.Get("next"), pathPastes)
	viewer, err := p.modules.Tokens.SignIn.Do(r.Context(), secret)
	if err == nil {
		err = p.begin(w, r, viewer.User.ID, viewer.Token)
	}
	if err == nil {
		seeOther(w, next)
		return nil
	}
	if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	r.rejected = true
	page := p.newSignInPage(r, next)
	page.Wrong = true
	guard(w, r)
	writeStatus(w, http.StatusUnauthorized)
	return write(r.Context(), w, p.signInView(page))
}

// signOut ends the session. An access token that it was made with stays valid: it may be in use elsewhere.
func (p *Pages) signOut(w http.ResponseWriter, r *request) error {
	if err := p.modules.Tokens.SignOut.Do(r.Context(), cookieSecret(r.Request)); err != nil {
		return err
	}
	setSession(w, r.Request, "")
	seeOther(w, "/")
	return nil
}

// signInFirst asks the reader to sign in, and then to come back to the page that was asked for.
func signInFirst(w http.ResponseWriter, r *request) {
	seeOther(w, pathSignIn+"?next="+url.QueryEscape(r.URL.RequestURI()))
}

// signedIn makes a handler one for readers who have signed in; others are asked to.
func signedIn(answer handler) handler {
	return func(w http.ResponseWriter, r *request) error {
		if !r.viewer.SignedIn() {
			signInFirst(w, r)
			return nil
		}
		return answer(w, r)
	}
}

// recently reports whether the reader has signed in within the last hour. Otherwise it has the reader sign in, and come back to a path.
func recently(w http.ResponseWriter, r *request, path string) bool {
	if r.viewer.SignedInRecently(time.Now()) {
		return true
	}
	seeOther(w, pathSignIn+"?next="+url.QueryEscape(path))
	return false
}
