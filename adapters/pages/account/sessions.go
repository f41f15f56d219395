package account

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
)

// sessionsPage has the browsers that the user has signed in with.
type sessionsPage struct {
	site.Layout

	Sessions []session
}

type session struct {
	ID, Browser, Scope string
	Begun, Used        site.Moment
	This               bool
}

// accountSessions shows the browsers that a reader has signed in with.
func (p *pages) accountSessions(w http.ResponseWriter, r *site.Request) error {
	found, err := p.Modules.Tokens.ListSessions.Do(r.Context(), reader(r))
	if err != nil {
		return err
	}
	page := sessionsPage{Layout: r.Layout("Where you are signed in", "")}
	for _, t := range found {
		page.Sessions = append(page.Sessions, session{
			string(t.ID), t.Name, t.Scope.String(), site.At(t.CreatedAt), site.At(t.LastUsedAt), t.ID == r.Viewer.Token.ID,
		})
	}
	return site.Show(w, r, p.sessionsView(page))
}

// endSession ends one session, or all others.
func (p *pages) endSession(w http.ResponseWriter, r *site.Request) error {
	fields, err := r.Fields(1)
	if err != nil {
		return err
	}
	id := fields.Get("end")
	switch id {
	case "":
		return site.ErrBrokenForm
	case "others":
		id = ""
	}
	err = p.Modules.Tokens.EndOwnSessions.Do(r.Context(), r.Viewer, id)
	if err != nil && !fault.Is(err, fault.NotFound) { // it has ended already
		return err
	}
	site.SeeOther(w, pathSessions)
	return nil
}
