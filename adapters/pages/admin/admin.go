package admin

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
)

// foundAtOnce is how many items a page for administrators shows.
const foundAtOnce = 50

type adminPage struct {
	site.Layout

	Owner   string
	Filter  moderation.Filter
	Pastes  []moderation.Found
	Next    string // or ""
	Problem string // or ""
}

// administrators restricts a handler to administrators. If their session is old, they sign in once more; others get 404.
func administrators(answer site.Handler) site.Handler {
	return func(w http.ResponseWriter, r *site.Request) error {
		if !r.Viewer.User.Admin {
			return site.ErrNothing
		}
		path := r.URL.RequestURI()
		if r.Method == http.MethodPost {
			path = r.URL.Path
		}
		if !r.Recent() {
			return site.SignInFirst(w, path)
		}
		r.Request = r.WithContext(audit.As(r.Context(), r.Viewer.User.Name.String()))
		return answer(w, r)
	}
}

func (p *pages) admin(w http.ResponseWriter, r *site.Request) error {
	asked := r.URL.Query()
	after, err := site.ParsePlace(asked.Get("after"))
	if err != nil {
		return err
	}
	page := adminPage{
		Layout: r.Layout("All pastes", ""), Owner: strings.TrimSpace(asked.Get("owner")),
		Filter: moderation.Filter{Contains: asked.Get("contains"), Anonymous: asked.Has("anonymous"), Removed: asked.Has("removed")},
	}
	err = p.Modules.Moderation.List.Do(r.Context(), page.Owner, page.Filter, after, foundAtOnce+1, func(found moderation.Found) error {
		if len(page.Pastes) == foundAtOnce {
			asked.Set("after", site.FormatPlace(page.Pastes[foundAtOnce-1].Place()))
			page.Next = site.PathAdmin + "?" + asked.Encode()
			return nil
		}
		page.Pastes = append(page.Pastes, found)
		return nil
	})
	if fault.Is(err, fault.NotFound) { // the owner: administrators may know that there is none
		page.Problem, err = fault.MessageOf(err), nil
	}
	if err != nil {
		return err
	}
	return site.Show(w, r, p.adminView(page))
}

func (p *pages) act(w http.ResponseWriter, r *site.Request, fields url.Values) (err error) {
	ctx, id, reason := r.Context(), fields.Get("id"), strings.TrimSpace(fields.Get("reason"))
	switch fields.Get("do") {
	case "remove":
		err = p.Modules.Moderation.Remove.Do(ctx, id, reason)
	case "restore":
		err = p.Modules.Moderation.Restore.Do(ctx, id)
	case "suspend":
		_, _, err = p.Modules.Moderation.Suspend.Do(ctx, strings.TrimSpace(fields.Get("user")), reason, fields.Has("hide"))
	case "unsuspend":
		_, _, err = p.Modules.Moderation.Suspend.Undo(ctx, strings.TrimSpace(fields.Get("user")))
	default:
		err = site.ErrBrokenForm
	}
	return done(w, err, site.PathAdmin)
}

// done redirects after an act. It tells administrators what was not found.
func done(w http.ResponseWriter, err error, path string) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, fault.MessageOf(err))
	}
	return site.Done(w, path, err)
}
