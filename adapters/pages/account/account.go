package account

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
)

// accountPage is the profile of the signed-in user, as it is or as it was sent.
type accountPage struct {
	site.Layout

	Profile users.Profile
	Problem string
	Saved   bool
}

// account shows a reader's own profile.
func (p *pages) account(w http.ResponseWriter, r *site.Request) error {
	u := r.Viewer.User
	return site.Show(w, r, p.accountView(accountPage{
		Layout: r.Layout("Your account", ""), Saved: r.URL.Query().Has("saved"),
		Profile: users.Profile{
			Name: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLanguage: u.DefaultLanguage, PublicProfile: u.PublicProfile, ShowTags: u.ShowTags,
		},
	}))
}

// changeAccount stores the profile. Another name needs a session that is not old.
func (p *pages) changeAccount(w http.ResponseWriter, r *site.Request) error {
	fields, err := r.Fields(5)
	if err != nil {
		return err
	}
	wanted := users.Profile{
		Name: fields.Get("name"), AvatarURL: fields.Get("avatar"), DefaultLanguage: fields.Get("language"),
		PublicProfile: fields.Has("public"), ShowTags: fields.Has("tags"),
	}
	if wanted.Name != r.Viewer.User.Name.String() && !site.Recently(w, r, site.PathAccount) {
		return nil
	}
	err = p.Modules.Users.UpdateOwn.Do(r.Context(), r.Viewer, wanted)
	if err == nil {
		site.SeeOther(w, site.PathAccount+"?saved")
		return nil
	}
	page := accountPage{Layout: r.Layout("Your account", ""), Profile: wanted, Problem: fault.MessageOf(err)}
	return site.FormAgain(w, r, err, func() error { return site.Write(r.Context(), w, p.accountView(page)) })
}

// reader refers to the signed-in user as operators do.
func reader(r *site.Request) string { return "id:" + string(r.Viewer.User.ID) }
