package admin

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gluepot/gluepot/adapters/internal/quantity"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/user"
)

type pastesPage struct {
	site.Layout

	Fields  url.Values // of the form that filters
	Filter  moderation.Filter
	Pastes  []moderation.Paste
	Next    string // or ""
	Problem string // or ""
}

// The fields of the form that filters, beside those without a value.
const (
	fieldOwner      = "owner"
	fieldTitle      = "title"
	fieldContains   = "contains"
	fieldLanguage   = "language"
	fieldSince      = "since"
	fieldUntil      = "until"
	fieldLargerThan = "larger-than"
)

// pathOfPastes returns the path of the list of a user's pastes, or of those that were removed.
func pathOfPastes(owner user.ID, removed bool) string {
	asked := url.Values{fieldOwner: {"id:" + string(owner)}}
	if removed {
		asked.Set("removed", "on")
	}
	return site.PathAdmin + "?" + asked.Encode()
}

func (p *pages) pastes(w http.ResponseWriter, r *site.Request) error {
	asked := r.URL.Query()
	after, err := site.ParsePlace(asked.Get("after"))
	if err != nil {
		return err
	}
	for name := range asked {
		asked.Set(name, strings.TrimSpace(asked.Get(name)))
	}
	page := pastesPage{Layout: r.Layout("All pastes", ""), Fields: asked}
	if page.Filter, err = parseFilter(asked); err == nil {
		err = p.Modules.Moderation.List.Do(
			r.Context(), r.Actor(), asked.Get(fieldOwner), page.Filter, after, foundAtOnce+1, into(&page.Pastes))
	}
	if len(page.Pastes) > foundAtOnce {
		page.Pastes = page.Pastes[:foundAtOnce]
		asked.Set("after", site.FormatPlace(page.Pastes[foundAtOnce-1].Cursor()))
		page.Next = site.PathAdmin + "?" + asked.Encode()
	}
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) { // administrators may know which users there are
		page.Problem, err = fault.MessageOf(err), nil
	}
	return site.Show(w, r, p.pastesView(page), err)
}

// Refusals of filters that exclude each other.
var (
	errOwnerOrNone = fault.New(fault.Invalid, "Name an owner, or look for pastes without one, but not both.")
	errNoReports   = fault.New(fault.Invalid,
		"Removing a paste closes its reports. Look for reported pastes, or for removed ones, but not both.")
)

// parseFilter returns the filter of a form, which has what 'gluepot paste list' has. It fails with fault.Invalid.
func parseFilter(asked url.Values) (filter moderation.Filter, err error) {
	filter = moderation.Filter{
		Anonymous: asked.Has("anonymous"), Reported: asked.Has("reported"), Removed: asked.Has("removed"),
		Title: asked.Get(fieldTitle), Contains: asked.Get(fieldContains), Language: asked.Get(fieldLanguage),
	}
	switch {
	case filter.Anonymous && asked.Get(fieldOwner) != "":
		return filter, errOwnerOrNone
	case filter.Reported && filter.Removed:
		return filter, errNoReports
	}
	if text := asked.Get(fieldSince); text != "" && err == nil {
		filter.Since, err = quantity.Instant(text)
	}
	if text := asked.Get(fieldUntil); text != "" && err == nil {
		filter.Until, err = quantity.Instant(text)
	}
	if text := asked.Get(fieldLargerThan); text != "" && err == nil {
		filter.LargerThan, err = quantity.Size(text)
	}
	if err != nil {
		return filter, fault.New(fault.Invalid, "Give "+err.Error()+".")
	}
	return filter, nil
}

func (p *pages) changePaste(w http.ResponseWriter, r *site.Request, fields url.Values) (err error) {
	ctx, id := r.Context(), fields.Get("id")
	switch fields.Get("do") {
	case "remove":
		err = p.Modules.Moderation.Remove.Do(ctx, r.Actor(), id, strings.TrimSpace(fields.Get("reason")))
	case "restore":
		err = p.Modules.Moderation.Remove.Undo(ctx, r.Actor(), id)
	default:
		err = site.ErrBrokenForm
	}
	return p.done(w, err, r.URL.RequestURI()) // to the same list
}
