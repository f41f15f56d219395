package pages

import (
	"net/http"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
)

// accountPage is the profile of the signed-in user, as it is or as it was sent.
type accountPage struct {
	layout

	Profile users.Profile
	Problem string
	Saved   bool
}

// deleteAccountPage asks whether to delete the account.
type deleteAccountPage struct {
	layout

	Problem string
}

// account shows a reader's own profile.
func (p *Pages) account(w http.ResponseWriter, r *request) error {
	u := r.viewer.User
	return show(w, r, p.accountView(accountPage{
		layout: r.layout("Your account", ""), Saved: r.URL.Query().Has("saved"),
		Profile: users.Profile{
			Name: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLanguage: u.DefaultLanguage, PublicProfile: u.PublicProfile, ShowTags: u.ShowTags,
		},
	}))
}

// changeAccount stores the profile. Another name needs a session that is not old.
func (p *Pages) changeAccount(w http.ResponseWriter, r *request) error {
	fields, err := r.form(5)
	if err != nil {
		return err
	}
	wanted := users.Profile{
		Name: fields.Get("name"), AvatarURL: fields.Get("avatar"), DefaultLanguage: fields.Get("language"),
		PublicProfile: fields.Has("public"), ShowTags: fields.Has("tags"),
	}
	if wanted.Name != r.viewer.User.Name.String() && !recently(w, r, pathAccount) {
		return nil
	}
	err = p.modules.Users.UpdateOwn.Do(r.Context(), r.viewer, wanted)
	if err == nil {
		seeOther(w, pathAccount+"?saved")
		return nil
	}
	page := accountPage{layout: r.layout("Your account", ""), Profile: wanted, Problem: fault.MessageOf(err)}
	return formAgain(w, r, err, func() error { return write(r.Context(), w, p.accountView(page)) })
}

// formAgain shows a form once more with what is wrong with it, if that is why it failed.
func formAgain(w http.ResponseWriter, r *request, err error, again func() error) error {
	status := http.StatusBadRequest
	switch fault.KindOf(err) {
	case fault.Invalid:
	case fault.Conflict:
		status = http.StatusConflict
	default:
		return err
	}
	guard(w, r)
	w.Header()["Cache-Control"] = privateCaching // what is typed belongs to its writer
	writeStatus(w, status)
	return again()
}

// accountDeletion asks whether to delete the account.
func (p *Pages) accountDeletion(w http.ResponseWriter, r *request) error {
	return show(w, r, p.deleteAccountView(deleteAccountPage{layout: r.layout("Delete your account", "")}))
}

// deleteAccount deletes the account of who types its name.
func (p *Pages) deleteAccount(w http.ResponseWriter, r *request) error {
	if !recently(w, r, pathAccountDelete) {
		return nil
	}
	fields, err := r.form(2)
	if err != nil {
		return err
	}
	keep := fields.Get("pastes") == "anonymous"
	if !keep && fields.Get("pastes") != "delete" {
		return errBrokenForm
	}
	err = p.modules.Users.DeleteOwn.Do(r.Context(), r.viewer, fields.Get("name"), keep)
	if err != nil {
		page := deleteAccountPage{layout: r.layout("Delete your account", ""), Problem: fault.MessageOf(err)}
		return formAgain(w, r, err, func() error { return write(r.Context(), w, p.deleteAccountView(page)) })
	}
	setSession(w, r.Request, "")
	seeOther(w, "/")
	return nil
}
