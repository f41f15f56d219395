package account

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var errNotTheSame = fault.New(fault.Invalid, "The two passwords differ. Type the new one twice.")

// newPassword returns the new password of a form, which has it twice.
func newPassword(fields url.Values) (string, error) {
	password := fields.Get("password")
	if password != fields.Get("again") {
		return "", errNotTheSame
	}
	return password, nil
}

// linkPage returns the layout of the page of a one-time link, which stays out of caches.
func linkPage(w http.ResponseWriter, r *site.Request, title string) site.Layout {
	site.KeepPrivate(w)
	page := r.Layout(title, "")
	page.Here = ""
	return page
}

func (p *pages) showSetup(w http.ResponseWriter, r *site.Request) error {
	err := p.Modules.Accounts.SetUp.Show(r.Context(), r.PathValue("code"))
	r.Rejected = fault.Is(err, fault.Forbidden)
	return site.Show(w, r, p.setupView(linkPage(w, r, "Set up this server"), r.PathValue("code"), "", ""), err)
}

// setUp creates the first administrator.
func (p *pages) setUp(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has(fieldPasskey) {
		return p.setUpWithPasskey(w, r, fields)
	}
	code, name := r.PathValue("code"), fields.Get("name")
	var owner user.User
	password, err := newPassword(fields)
	if err == nil {
		owner, err = p.Modules.Accounts.SetUp.Do(r.Context(), r.Actor(), code, name, password)
	}
	if err != nil {
		r.Rejected = fault.Is(err, fault.Forbidden)
		return site.FormAgain(w, r, err, p.setupView(linkPage(w, r, "Set up this server"), code, name, fault.MessageOf(err)))
	}
	return p.begin(w, r, owner.ID, token.Token{}, site.PathAdmin)
}

func (p *pages) showReset(w http.ResponseWriter, r *site.Request) error {
	owner, err := p.Modules.Accounts.Reset.Show(r.Context(), r.PathValue("code"))
	r.Rejected = fault.Is(err, fault.Forbidden)
	return site.Show(w, r, p.resetView(linkPage(w, r, "Choose a password"), r.PathValue("code"), owner, ""), err)
}

// reset sets the password of a link's owner, and signs in.
func (p *pages) reset(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if fields.Has(fieldPasskey) {
		return p.resetWithPasskey(w, r, fields)
	}
	code := r.PathValue("code")
	owner, err := p.Modules.Accounts.Reset.Show(r.Context(), code)
	if err == nil {
		var password string
		if password, err = newPassword(fields); err == nil {
			_, err = p.Modules.Accounts.Reset.Do(r.Context(), r.Actor(), code, password)
		}
	}
	if err != nil {
		r.Rejected = fault.Is(err, fault.Forbidden)
		return site.FormAgain(w, r, err, p.resetView(linkPage(w, r, "Choose a password"), code, owner, fault.MessageOf(err)))
	}
	return p.begin(w, r, owner.ID, token.Token{}, pathSecurity)
}

// credentialsView is what the page with the ways to sign in shows.
type credentialsView struct {
	identity.Credentials

	labels  map[string]string   // of all providers, by their keys
	others  []identity.Provider // that can be linked
	problem string
	saved   bool
}

func (p *pages) security(w http.ResponseWriter, r *site.Request) error {
	return p.showSecurity(w, r, nil)
}

// showSecurity shows the ways to sign in, and the problem of a submitted form, if any.
func (p *pages) showSecurity(w http.ResponseWriter, r *site.Request, problem error) error {
	credentials, err := p.Modules.Accounts.Credentials.Own(r.Context(), r.Viewer)
	if err != nil {
		return err
	}
	view := credentialsView{
		Credentials: credentials, labels: make(map[string]string),
		problem: fault.MessageOf(problem), saved: r.URL.Query().Has("saved"),
	}
	for _, source := range p.Modules.Accounts.Providers.Do() {
		view.labels[source.Key] = source.Label
		if _, ok := credentials.Identities[source.Key]; !ok {
			view.others = append(view.others, source)
		}
	}
	page := p.securityView(r.Layout("Ways to sign in", ""), view)
	switch {
	case problem == nil:
		return site.Show(w, r, page, nil)
	case errors.Is(problem, identity.ErrTooManyGuesses):
		return outOfGuesses(w, r, page)
	}
	return site.FormAgain(w, r, problem, page)
}

// outOfGuesses shows a form again whose name had too many wrong passwords.
func outOfGuesses(w http.ResponseWriter, r *site.Request, page templ.Component) error {
	w.Header().Set("Retry-After", strconv.Itoa(int(identity.GuessInterval.Seconds())))
	return site.ShowAs(w, r, http.StatusTooManyRequests, page)
}

// changePassword sets or removes the password. It needs a recent sign-in, or the current password.
func (p *pages) changePassword(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	present := fields.Get("present")
	if present == "" && !r.Recent() {
		return p.SignInFirst(w, pathSecurity)
	}
	var err error
	switch fields.Get("do") {
	case "set":
		var password string
		if password, err = newPassword(fields); err == nil {
			err = p.Modules.Accounts.Passwords.SetOwn(r.Context(), r.Actor(), present, password)
		}
	case "remove":
		err = p.Modules.Accounts.Passwords.RemoveOwn(r.Context(), r.Actor(), present)
	default:
		return site.ErrBrokenForm
	}
	if err != nil {
		r.Rejected = errors.Is(err, identity.ErrCurrentPassword)
		return p.showSecurity(w, r, err)
	}
	// All sessions have ended. This browser gets a new one with the same rights.
	session := r.Viewer.Token
	parent := token.Token{ID: session.Parent, Scope: session.Scope, ExpiresAt: session.ExpiresAt}
	return p.begin(w, r, r.Viewer.User.ID, parent, pathSecurity+"?saved")
}
