package account

import (
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
)

func (p *pages) account(w http.ResponseWriter, r *site.Request) error {
	u := r.Viewer.User
	stored := users.Profile{
		Name: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLanguage: u.DefaultLanguage,
		PublicProfile: u.PublicProfile, ShowTags: u.ShowTags,
	}
	return site.Show(w, r, p.accountView(r.Layout("Your account", ""), stored, "", r.URL.Query().Has("saved")))
}

// changeAccount stores the profile. A new name needs a recent sign-in.
func (p *pages) changeAccount(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	wanted := users.Profile{
		Name: fields.Get("name"), AvatarURL: fields.Get("avatar"), DefaultLanguage: fields.Get("language"),
		PublicProfile: fields.Has("public"), ShowTags: fields.Has("tags"),
	}
	if wanted.Name != r.Viewer.User.Name.String() && !r.Recent() {
		return site.SignInFirst(w, site.PathAccount)
	}
	if err := p.Modules.Users.UpdateOwn.Do(r.Context(), r.Viewer, wanted); err != nil {
		return site.FormAgain(w, r, err, p.accountView(r.Layout("Your account", ""), wanted, fault.MessageOf(err), false))
	}
	return site.SeeOther(w, site.PathAccount+"?saved")
}

// reader returns the signed-in user's id in the form that operators' use cases take.
func reader(r *site.Request) string { return "id:" + string(r.Viewer.User.ID) }

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
