package admin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/user"
)

// orders has the orders of the list of users, by their names in queries.
var orders = map[string]moderation.Order{
	"": moderation.ByName, "used": moderation.ByLastUse, "pastes": moderation.ByPastes, "bytes": moderation.ByBytes,
}

type usersPage struct {
	site.Layout

	Filter  moderation.AccountFilter
	Order   string // a key of orders
	Users   []moderation.Account
	Next    string // or ""
	Problem string // or ""
}

func (p *pages) users(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	order, ok := orders[query.Get("order")]
	after, err := parseAccountPlace(query.Get("after"))
	if err != nil || !ok {
		return site.ErrNothing
	}
	page := usersPage{Layout: r.Layout("Users", ""), Order: query.Get("order"), Filter: moderation.AccountFilter{
		Name: strings.TrimSpace(query.Get("name")), Admins: query.Has("admins"), Suspended: query.Has("suspended"),
	}}
	page.Users, err = p.Modules.Moderation.ListAccounts.Do(
		r.Context(), r.Actor(), page.Filter, order, after, pageSize+1)
	if len(page.Users) > pageSize {
		page.Users = page.Users[:pageSize]
		query.Set("after", formatAccountPlace(page.Users[pageSize-1].CursorIn(order)))
		page.Next = pathUsers + "?" + query.Encode()
	}
	if fault.Is(err, fault.Invalid) {
		page.Problem, err = fault.MessageOf(err), nil
	}
	return site.Show(w, r, p.usersView(page), err)
}

// formatAccountPlace returns a place for a query: 2048.epoxy.
func formatAccountPlace(place moderation.AccountCursor) string {
	return strconv.FormatInt(place.Value, 10) + "." + place.Name
}

// parseAccountPlace parses the output of formatAccountPlace; "" is the beginning.
func parseAccountPlace(text string) (moderation.AccountCursor, error) {
	if text == "" {
		return moderation.AccountCursor{}, nil
	}
	value, name, _ := strings.Cut(text, ".")
	number, err := strconv.ParseInt(value, 10, 64)
	place := moderation.AccountCursor{Value: number, Name: name}
	username, nameErr := user.ParseName(name)
	year := place.LastUse().Year() // databases hold only 1 to 9999
	if err != nil || nameErr != nil || username.Folded() != name || year < 1 || year > 9999 {
		return moderation.AccountCursor{}, site.ErrNothing
	}
	return place, nil
}

type userPage struct {
	site.Layout

	User     moderation.Account
	Own      bool // the reader's own account
	Sessions int
	Resets   bool   // an administrator can give the user a link to a new password or passkey
	Link     string // that link when it was just made, or ""
	Problem  string // or ""
}

// pathOfNamed returns the path of the list of users with that name.
func pathOfNamed(name string) string { return pathUsers + "?" + url.Values{"name": {name}}.Encode() }

// pathOfUser returns the path of the page about a user.
func pathOfUser(id user.ID) string { return pathUsers + "/" + url.PathEscape(string(id)) }

func (p *pages) user(w http.ResponseWriter, r *site.Request) error {
	return p.showUser(w, r, nil)
}

// showUser shows a user, and the problem of a form about the user, if any.
func (p *pages) showUser(w http.ResponseWriter, r *site.Request, problem error) error {
	account, err := p.Modules.Moderation.ShowAccount.Do(r.Context(), r.Actor(), user.ID(r.PathValue("id")))
	if err != nil {
		return err
	}
	sessions, err := p.Modules.Tokens.Sessions.List(r.Context(), r.Actor(), "id:"+string(account.ID))
	if err != nil {
		return err
	}
	page := userPage{
		Layout: r.Layout(account.Name.String(), ""), User: account, Own: account.ID == r.Viewer.User.ID,
		Sessions: len(sessions), Problem: fault.MessageOf(problem),
		Resets: !account.Suspended && (p.Modules.Accounts.Passwords.On() || p.Modules.Accounts.Passkeys.On()),
	}
	if code := r.Once(); code != "" {
		r.ForgetOnce(w, pathOfUser(account.ID))
		if owner, err := p.Modules.Accounts.Reset.Show(r.Context(), code); err == nil && owner.ID == account.ID {
			site.ShowsSecret(w)
			page.Link = p.Address(r.Request) + site.PathReset + code
		}
	}
	if problem != nil {
		return site.FormAgain(w, r, problem, p.userView(page))
	}
	return site.Show(w, r, p.userView(page), nil)
}

func (p *pages) changeUser(w http.ResponseWriter, r *site.Request, fields url.Values) (err error) {
	ctx, id := r.Context(), user.ID(r.PathValue("id"))
	reference, to := "id:"+string(id), pathOfUser(id)
	switch fields.Get("do") {
	case "make-admin":
		_, err = p.Modules.Users.Update.Do(ctx, r.Actor(), reference, users.UpdateInput{Admin: new(true)})
	case "unmake-admin":
		_, err = p.Modules.Users.Update.Do(ctx, r.Actor(), reference, users.UpdateInput{Admin: new(false)})
	case "suspend":
		reason := strings.TrimSpace(fields.Get("reason"))
		_, _, err = p.Modules.Moderation.Suspend.Do(ctx, r.Actor(), reference, reason, fields.Has("hide"))
	case "unsuspend":
		_, _, err = p.Modules.Moderation.Suspend.Undo(ctx, r.Actor(), reference)
	case "sign-out":
		_, err = p.Modules.Tokens.Sessions.EndAll(ctx, r.Actor(), reference)
	case "reset":
		var code string
		if _, _, code, err = p.Modules.Accounts.Reset.Offer(ctx, r.Actor(), reference); err == nil {
			site.ShowOnce(w, r, to, code)
		}
	case "delete":
		to, err = pathUsers, p.deleteUser(r, id, fields)
	default:
		err = site.ErrBrokenForm
	}
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Conflict) {
		return p.showUser(w, r, err)
	}
	return p.done(w, err, to)
}

var errMistyped = fault.New(fault.Invalid, "This is not the username. Type the username to delete the account.")

// deleteUser deletes a user if the form has the user's current name.
func (p *pages) deleteUser(r *site.Request, id user.ID, fields url.Values) error {
	keep := fields.Get("pastes") == "anonymous"
	if !keep && fields.Get("pastes") != "delete" {
		return site.ErrBrokenForm
	}
	account, err := p.Modules.Moderation.ShowAccount.Do(r.Context(), r.Actor(), id)
	if err != nil {
		return err
	}
	name, err := user.ParseName(strings.TrimSpace(fields.Get("name")))
	if err != nil || name.Folded() != account.Name.Folded() {
		return errMistyped
	}
	return p.Modules.Users.Delete.Do(r.Context(), r.Actor(), account.User, keep)
}
