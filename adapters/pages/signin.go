package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

const (
	pathSignIn = "/sign-in"
	pathPastes = "/pastes"
)

// signInPage asks for an access token. It never repeats one that was sent.
type signInPage struct {
	layout

	Next  string // the path to go on to
	Wrong bool   // what was sent is no valid token
	Days  int    // for which the browser keeps it
}

// showSignIn shows the form, or where it would lead to somebody who has signed in.
func (p *Pages) showSignIn(w http.ResponseWriter, r *request) error {
	next := localPath(r.URL.Query().Get("next"), pathPastes)
	if r.session.secret != "" {
		seeOther(w, next)
		return nil
	}
	return show(w, r, p.signInView(newSignInPage(r, next)))
}

func newSignInPage(r *request, next string) signInPage {
	page := signInPage{layout: r.layout("Sign in", ""), Next: next, Days: int(sessionAge.Hours() / 24)}
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
	_, err = p.modules.Users.ShowSelf.Do(r.Context(), secret)
	if err != nil && !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	if err == nil {
		setSession(w, r.Request, secret)
		seeOther(w, next)
		return nil
	}
	r.rejected = true
	page := newSignInPage(r, next)
	page.Wrong = true
	guard(w, true)
	writeStatus(w, http.StatusUnauthorized)
	return write(w, p.signInView(page))
}

// signOut ends the session. The token stays valid: it may be in use elsewhere.
func (p *Pages) signOut(w http.ResponseWriter, r *request) error {
	setSession(w, r.Request, "")
	seeOther(w, "/")
	return nil
}

// signInFirst has somebody who has not signed in do so, and then come back to the page that was asked for.
func signInFirst(w http.ResponseWriter, r *request) {
	seeOther(w, pathSignIn+"?next="+url.QueryEscape(r.URL.RequestURI()))
}
