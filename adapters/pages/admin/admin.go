package admin

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
)

// foundAtOnce is how many pastes, and how many acts, a page for administrators has.
const foundAtOnce = 50

// adminPage has pastes of everybody.
type adminPage struct {
	site.Layout

	Owner, Contains    string
	Anonymous, Removed bool
	Pastes             []moderatedPaste
	Next               string // or ""
}

// moderatedPaste is one of them.
type moderatedPaste struct {
	ID, Owner, Visibility string
	Title                 marks.Text
	Bytes                 int64
	Created, Removed      site.Moment // the zero moment: it is there
	Why                   string      // it was removed, and by whom
}

// administrators makes a handler theirs: for everybody else there is nothing. It wants a session that is not older than an hour.
func administrators(answer site.Handler) site.Handler {
	return func(w http.ResponseWriter, r *site.Request) error {
		if !r.Viewer.User.Admin {
			return site.ErrNothing
		}
		path := r.URL.RequestURI()
		if r.Method == http.MethodPost {
			path = r.URL.Path
		}
		if !site.Recently(w, r, path) {
			return nil
		}
		r.Request = r.WithContext(audit.As(r.Context(), r.Viewer.User.Name.String()))
		return answer(w, r)
	}
}

// admin lists pastes of everybody.
func (p *pages) admin(w http.ResponseWriter, r *site.Request) error {
	asked := r.URL.Query()
	after, err := site.ParsePlace(asked.Get("after"))
	if err != nil {
		return err
	}
	page := adminPage{
		Layout: r.Layout("All pastes", ""), Owner: strings.TrimSpace(asked.Get("owner")), Contains: asked.Get("contains"),
		Anonymous: asked.Has("anonymous"), Removed: asked.Has("removed"),
	}
	filter := moderation.Filter{Anonymous: page.Anonymous, Removed: page.Removed, Contains: page.Contains}
	var last moderation.Found
	err = p.Modules.Moderation.List.Do(r.Context(), page.Owner, filter, after, foundAtOnce+1, func(found moderation.Found) error {
		if len(page.Pastes) == foundAtOnce {
			asked.Set("after", site.FormatPlace(last.Place()))
			page.Next = site.PathAdmin + "?" + asked.Encode()
			return nil
		}
		last = found
		page.Pastes = append(page.Pastes, newModeratedPaste(&found))
		return nil
	})
	if err != nil {
		return err
	}
	return site.Show(w, r, p.adminView(page))
}

func newModeratedPaste(f *moderation.Found) moderatedPaste {
	made := moderatedPaste{
		ID: string(f.ID), Owner: f.OwnerName, Visibility: f.Visibility.String(),
		Title: marks.Text(site.Shortened(cmp.Or(f.Title, "Untitled"), site.MaxHeading)),
		Bytes: f.Bytes, Created: site.At(f.CreatedAt), Removed: site.At(f.RemovedAt),
	}
	if f.RemovedBy != "" {
		made.Why = "by " + f.RemovedBy + ": " + f.Reason
	}
	return made
}

// act does to a paste or a user what an administrator has chosen.
func (p *pages) act(w http.ResponseWriter, r *site.Request) error {
	fields, err := r.Fields(5)
	if err != nil {
		return err
	}
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

// done leads back to a page once something was done. What was not found is said in words, which administrators may read.
func done(w http.ResponseWriter, err error, path string) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, fault.MessageOf(err))
	}
	if err != nil {
		return err
	}
	site.SeeOther(w, path)
	return nil
}
