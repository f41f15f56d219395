package account

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// accountPage is the profile of the signed-in user, as it is or as it was sent.
type accountPage struct {
	site.Layout

	Profile users.Profile
	Base    string // detects a profile that was changed since the form was shown
	Problem string
	Saved   bool
}

func (p *pages) account(w http.ResponseWriter, r *site.Request) error {
	stored := profileOf(r.Viewer.User)
	return site.Show(w, r, p.accountView(accountPage{
		Layout: r.Layout("Your account", ""), Saved: r.URL.Query().Has("saved"), Profile: stored, Base: baseOf(stored),
	}))
}

func profileOf(u user.User) users.Profile {
	return users.Profile{
		Name: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLanguage: u.DefaultLanguage,
		PublicProfile: u.PublicProfile, ShowTags: u.ShowTags,
	}
}

// baseOf returns what differs for profiles that differ.
func baseOf(profile users.Profile) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%#v", profile)))
}

var errChanged = fault.New(fault.Conflict, "Your profile was changed since this page was opened, in another tab perhaps. "+
	"Nothing is saved yet: send this again to have it as you see it here, or open the page anew to see what it is now.")

// changeAccount stores the profile. Another name needs a session that is not old.
func (p *pages) changeAccount(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	wanted := users.Profile{
		Name: fields.Get("name"), AvatarURL: fields.Get("avatar"), DefaultLanguage: fields.Get("language"),
		PublicProfile: fields.Has("public"), ShowTags: fields.Has("tags"),
	}
	if wanted.Name != r.Viewer.User.Name.String() && !r.Recent() {
		return site.SignInFirst(w, site.PathAccount)
	}
	base, err := baseOf(profileOf(r.Viewer.User)), error(errChanged)
	if sent := fields.Get("base"); sent == "" || sent == base {
		err = p.Modules.Users.UpdateOwn.Do(r.Context(), r.Viewer, wanted)
	}
	if err == nil {
		return site.SeeOther(w, site.PathAccount+"?saved")
	}
	page := accountPage{Layout: r.Layout("Your account", ""), Profile: wanted, Base: base, Problem: fault.MessageOf(err)}
	return site.FormAgain(w, r, err, p.accountView(page))
}

// reader refers to the signed-in user as operators do.
func reader(r *site.Request) string { return "id:" + string(r.Viewer.User.ID) }
