package account

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
)

// deleteAccountPage asks whether to delete the account.
type deleteAccountPage struct {
	site.Layout

	Problem string
}

// accountDeletion asks whether to delete the account.
func (p *pages) accountDeletion(w http.ResponseWriter, r *site.Request) error {
	return site.Show(w, r, p.deleteAccountView(deleteAccountPage{Layout: r.Layout("Delete your account", "")}))
}

// deleteAccount deletes the account of who types its name.
func (p *pages) deleteAccount(w http.ResponseWriter, r *site.Request) error {
	if !site.Recently(w, r, pathDelete) {
		return nil
	}
	fields, err := r.Fields(2)
	if err != nil {
		return err
	}
	keep := fields.Get("pastes") == "anonymous"
	if !keep && fields.Get("pastes") != "delete" {
		return site.ErrBrokenForm
	}
	err = p.Modules.Users.DeleteOwn.Do(r.Context(), r.Viewer, fields.Get("name"), keep)
	if err != nil {
		page := deleteAccountPage{Layout: r.Layout("Delete your account", ""), Problem: fault.MessageOf(err)}
		return site.FormAgain(w, r, err, func() error { return site.Write(r.Context(), w, p.deleteAccountView(page)) })
	}
	site.SetSession(w, r.Request, "")
	site.SeeOther(w, "/")
	return nil
}
