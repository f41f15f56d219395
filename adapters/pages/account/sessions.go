package account

import (
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
)

func (p *pages) accountSessions(w http.ResponseWriter, r *site.Request) error {
	found, err := p.Modules.Tokens.ListSessions.Do(r.Context(), reader(r))
	if err != nil {
		return err
	}
	return site.Show(w, r, p.sessionsView(r.Layout("Where you are signed in", ""), found, r.Viewer.Token.ID))
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
	err := p.Modules.Tokens.EndOwnSessions.Do(r.Context(), r.Viewer, id)
	if fault.Is(err, fault.NotFound) { // it has ended already
		err = nil
	}
	return site.Done(w, pathSessions, err)
}
