package account

import (
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
)

func (p *pages) accountDeletion(w http.ResponseWriter, r *site.Request) error {
	return site.Show(w, r, p.deleteAccountView(r.Layout("Delete your account", ""), ""))
}

// deleteAccount deletes the account if its name was typed.
func (p *pages) deleteAccount(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	keep := fields.Get("pastes") == "anonymous"
	if !keep && fields.Get("pastes") != "delete" {
		return site.ErrBrokenForm
	}
	err := p.Modules.Users.DeleteOwn.Do(r.Context(), r.Viewer, fields.Get("name"), keep)
	if err != nil {
		return site.FormAgain(w, r, err, p.deleteAccountView(r.Layout("Delete your account", ""), fault.MessageOf(err)))
	}
	site.SetSession(w, r.Request, "")
	return site.SeeOther(w, "/")
}
