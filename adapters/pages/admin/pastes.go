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

	Fields  url.Values // of the filter form
	Filter  moderation.Filter
	Pastes  []moderation.Paste
	Next    string // or ""
	Problem string // or ""
}

// The text fields of the filter form.
const (
	fieldOwner      = "owner"
	fieldTitle      = "title"
	fieldContains   = "contains"
	fieldLanguage   = "language"
	fieldSince      = "since"
	fieldUntil      = "until"
	fieldLargerThan = "larger-than"
)

// pathOfPastes returns the path of the list of a user's pastes, or of the removed ones.
func pathOfPastes(owner user.ID, removed bool) string {
	query := url.Values{fieldOwner: {"id:" + string(owner)}}
	if removed {
		query.Set("removed", "on")
	}
	return site.PathAdmin + "?" + query.Encode()
}

func (p *pages) pastes(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	after, err := site.ParseCursor(query.Get("after"))
	if err != nil {
		return err
	}
	for name := range query {
		query.Set(name, strings.TrimSpace(query.Get(name)))
	}
	page := pastesPage{Layout: r.Layout("All pastes", ""), Fields: query}
	if page.Filter, err = parseFilter(query); err == nil {
		err = p.Modules.Moderation.List.Do(
			r.Context(), r.Actor(), query.Get(fieldOwner), page.Filter, after, pageSize+1, into(&page.Pastes))
	}
	if len(page.Pastes) > pageSize {
		page.Pastes = page.Pastes[:pageSize]
		query.Set("after", site.FormatCursor(page.Pastes[pageSize-1].Cursor()))
		page.Next = site.PathAdmin + "?" + query.Encode()
	}
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) { // administrators may know which users exist
		page.Problem, err = fault.MessageOf(err), nil
	}
	return site.Show(w, r, p.pastesView(page), err)
}

// The errors of filters that exclude each other.
var (
	errOwnerOrNone = fault.New(fault.Invalid, "Name an owner, or look for pastes without one, but not both.")
	errNoReports   = fault.New(fault.Invalid,
		"Removing a paste closes its reports. Look for reported pastes, or for removed ones, but not both.")
)

// parseFilter returns the filter of a form, which has the flags of 'gluepot paste list'. It fails with fault.Invalid.
func parseFilter(query url.Values) (filter moderation.Filter, err error) {
	filter = moderation.Filter{
		Anonymous: query.Has("anonymous"), Reported: query.Has("reported"), Removed: query.Has("removed"),
		Title: query.Get(fieldTitle), Contains: query.Get(fieldContains), Language: query.Get(fieldLanguage),
	}
	switch {
	case filter.Anonymous && query.Get(fieldOwner) != "":
		return filter, errOwnerOrNone
	case filter.Reported && filter.Removed:
		return filter, errNoReports
	}
	if text := query.Get(fieldSince); text != "" && err == nil {
		filter.Since, err = quantity.Instant(text)
	}
	if text := query.Get(fieldUntil); text != "" && err == nil {
		filter.Until, err = quantity.Instant(text)
	}
	if text := query.Get(fieldLargerThan); text != "" && err == nil {
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
