package pages

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// The paths of a reader's own account.
const (
	pathAccount         = "/account"
	pathAccountDelete   = "/account/delete"
	pathAccountExport   = "/account/export"
	pathAccountTokens   = "/account/tokens"
	pathAccountSessions = "/account/sessions"
)

// tokensPage has the access tokens of the signed-in user.
type tokensPage struct {
	layout

	Tokens  []accessToken
	Made    string // the secret that was just made, or ""
	Problem string
}

// accessToken is one of them. The zero moments stand for never.
type accessToken struct {
	ID, Name, Scope        string
	Created, Used, Expires moment
}

// label is what tells it from the others.
func (t *accessToken) label() string { return cmp.Or(t.Name, t.ID) }

// sessionsPage has the browsers that the user has signed in with.
type sessionsPage struct {
	layout

	Sessions []session
}

type session struct {
	ID, Browser, Scope string
	Begun, Used        moment
	This               bool
}

// accountTokens shows a reader's own access tokens.
func (p *Pages) accountTokens(w http.ResponseWriter, r *request) error {
	return p.showTokens(w, r, tokensPage{})
}

func (p *Pages) showTokens(w http.ResponseWriter, r *request, page tokensPage) error {
	found, err := p.modules.Tokens.List.Do(r.Context(), reader(r))
	if err != nil {
		return err
	}
	now := time.Now()
	for _, t := range found {
		if t.ValidAt(now) {
			page.Tokens = append(page.Tokens, accessToken{
				string(t.ID), t.Name, t.Scope.String(), moment{t.CreatedAt}, moment{t.LastUsedAt}, moment{t.ExpiresAt},
			})
		}
	}
	page.layout = r.layout("Your access tokens", "")
	guard(w, r)
	if page.Problem != "" {
		writeStatus(w, http.StatusBadRequest)
	}
	return write(r.Context(), w, p.tokensView(page))
}

// reader refers to the signed-in user as operators do.
func reader(r *request) string { return "id:" + string(r.viewer.User.ID) }

// changeTokens makes an access token, which is shown once, or revokes one.
func (p *Pages) changeTokens(w http.ResponseWriter, r *request) error {
	if !recently(w, r, pathAccountTokens) {
		return nil
	}
	fields, err := r.form(3)
	if err != nil {
		return err
	}
	if id := fields.Get("revoke"); id != "" {
		if err := p.modules.Tokens.RevokeOwn.Do(r.Context(), r.viewer, id); err != nil {
			return err
		}
		seeOther(w, pathAccountTokens)
		return nil
	}
	wanted := tokens.IssueInput{Name: fields.Get("name")}
	if wanted.Scope, err = token.ParseScope(fields.Get("scope")); err != nil {
		return err
	}
	days, err := strconv.ParseUint(fields.Get("days"), 10, 12)
	if err != nil {
		return fault.New(fault.Invalid, "The number of days is not one of the list. Open the page again, and choose one.")
	}
	wanted.ExpiresIn = time.Duration(days) * 24 * time.Hour
	_, secret, err := p.modules.Tokens.IssueOwn.Do(r.Context(), r.viewer, wanted)
	if fault.Is(err, fault.Invalid) {
		return p.showTokens(w, r, tokensPage{Problem: fault.MessageOf(err)})
	}
	if err != nil {
		return err
	}
	return p.showTokens(w, r, tokensPage{Made: secret.Reveal()})
}

// accountSessions shows the browsers that a reader has signed in with.
func (p *Pages) accountSessions(w http.ResponseWriter, r *request) error {
	found, err := p.modules.Tokens.ListSessions.Do(r.Context(), reader(r))
	if err != nil {
		return err
	}
	page := sessionsPage{layout: r.layout("Where you are signed in", "")}
	for _, t := range found {
		page.Sessions = append(page.Sessions, session{
			string(t.ID), t.Name, t.Scope.String(), moment{t.CreatedAt}, moment{t.LastUsedAt}, t.ID == r.viewer.Token.ID,
		})
	}
	return show(w, r, p.sessionsView(page))
}

// endSession ends one session, or all others.
func (p *Pages) endSession(w http.ResponseWriter, r *request) error {
	fields, err := r.form(1)
	if err != nil {
		return err
	}
	id := fields.Get("end")
	switch id {
	case "":
		return errBrokenForm
	case "others":
		id = ""
	}
	err = p.modules.Tokens.EndOwnSessions.Do(r.Context(), r.viewer, id)
	if err != nil && !fault.Is(err, fault.NotFound) { // it has ended already
		return err
	}
	seeOther(w, pathAccountSessions)
	return nil
}
