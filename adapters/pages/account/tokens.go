package account

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

func label(t *token.Token) string { return cmp.Or(t.Name, string(t.ID)) }

// scopeLabel returns the label of a scope.
func scopeLabel(scope token.Scope) string {
	if scope == token.Read {
		return "read-only"
	}
	return "read and write"
}

func (p *pages) accountTokens(w http.ResponseWriter, r *site.Request) error {
	return p.showTokens(w, r, "")
}

// showTokens shows the valid tokens, and the secret of a new one once.
func (p *pages) showTokens(w http.ResponseWriter, r *site.Request, problem string) error {
	all, err := p.Modules.Tokens.List.Own(r.Context(), r.Viewer)
	if err != nil {
		return err
	}
	now := time.Now()
	all = slices.DeleteFunc(all, func(t token.Token) bool { return !t.ValidAt(now) })
	once := r.Once()
	if once != "" {
		r.ForgetOnce(w, pathTokens)
	}
	id, secret, _ := strings.Cut(once, ".")
	if !slices.ContainsFunc(all, func(t token.Token) bool { return string(t.ID) == id }) {
		secret = "" // of another reader, or revoked
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusBadRequest
	}
	if secret != "" {
		site.ShowsSecret(w)
	}
	page := r.Layout("Your access tokens", "")
	page.Fixed = page.Fixed || secret != ""
	return site.ShowAs(w, r, status, p.tokensView(page, all, secret, problem))
}

// changeTokens creates an access token, which the page then shows once, or revokes one.
func (p *pages) changeTokens(w http.ResponseWriter, r *site.Request, fields url.Values) (err error) {
	if id := fields.Get("revoke"); id != "" {
		return p.Done(w, pathTokens, p.Modules.Tokens.Revoke.Own(r.Context(), r.Actor(), id))
	}
	input := tokens.IssueInput{Name: fields.Get("name")}
	if input.Scope, err = token.ParseScope(fields.Get("scope")); err != nil {
		return err
	}
	days, err := strconv.ParseUint(fields.Get("days"), 10, 12)
	if err != nil {
		return fault.New(fault.Invalid, "Choose one of the lifetimes in the list.")
	}
	input.ExpiresIn = time.Duration(days) * 24 * time.Hour
	created, secret, err := p.Modules.Tokens.Issue.Own(r.Context(), r.Actor(), input)
	switch {
	case fault.Is(err, fault.Invalid):
		return p.showTokens(w, r, fault.MessageOf(err))
	case err == nil:
		site.ShowOnce(w, r, pathTokens, string(created.ID)+"."+secret.Reveal())
	}
	return p.Done(w, pathTokens, err)
}

func (p *pages) accountSessions(w http.ResponseWriter, r *site.Request) error {
	sessions, err := p.Modules.Tokens.Sessions.ListOwn(r.Context(), r.Viewer)
	return site.Show(w, r, p.sessionsView(r.Layout("Your sessions", ""), sessions, r.Viewer.Token.ID), err)
}

// endSession ends one session, or all except this one.
func (p *pages) endSession(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	id := fields.Get("end")
	switch id {
	case "":
		return site.ErrBrokenForm
	case "others":
		id = ""
	}
	err := p.Modules.Tokens.Sessions.EndOwn(r.Context(), r.Actor(), id)
	if fault.Is(err, fault.NotFound) { // it has ended already
		err = nil
	}
	return p.Done(w, pathSessions, err)
}
