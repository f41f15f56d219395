package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
)

// The paths for administrators.
const (
	pathAdmin        = "/admin"
	pathAdminBlocks  = "/admin/blocks"
	pathAdminReports = "/admin/reports"
	pathAdminAudit   = "/admin/audit"
)

// foundAtOnce is how many pastes, and how many acts, a page for administrators has.
const foundAtOnce = 50

// adminPage has pastes of everybody.
type adminPage struct {
	layout

	Owner, Contains    string
	Anonymous, Removed bool
	Pastes             []moderatedPaste
	Next               string // or ""
}

// moderatedPaste is one of them.
type moderatedPaste struct {
	ID, Owner, Visibility string
	Title                 text
	Bytes                 int64
	Created, Removed      moment // the zero moment: it is there
	Why                   string // it was removed, and by whom
}

// blocksPage has the blocked networks.
type blocksPage struct {
	layout

	Blocks []blockedNetwork
}

type blockedNetwork struct {
	Network, Reason  string
	Created, Expires moment // zero: never
}

// auditPage has what operators and administrators have done.
type auditPage struct {
	layout

	Entries []audit.Entry
}

// administrators makes a handler theirs: for everybody else there is nothing. It wants a session that is not older than an hour.
func administrators(answer handler) handler {
	return func(w http.ResponseWriter, r *request) error {
		if !r.viewer.User.Admin {
			return errNothing
		}
		path := r.URL.RequestURI()
		if r.Method == http.MethodPost {
			path = r.URL.Path
		}
		if !recently(w, r, path) {
			return nil
		}
		r.Request = r.WithContext(audit.As(r.Context(), r.viewer.User.Name.String()))
		return answer(w, r)
	}
}

// admin lists pastes of everybody.
func (p *Pages) admin(w http.ResponseWriter, r *request) error {
	asked := r.URL.Query()
	after, err := parsePlace(asked.Get("after"))
	if err != nil {
		return err
	}
	page := adminPage{
		layout: r.layout("All pastes", ""), Owner: strings.TrimSpace(asked.Get("owner")), Contains: asked.Get("contains"),
		Anonymous: asked.Has("anonymous"), Removed: asked.Has("removed"),
	}
	filter := moderation.Filter{Anonymous: page.Anonymous, Removed: page.Removed, Contains: page.Contains}
	var last moderation.Found
	err = p.modules.Moderation.List.Do(r.Context(), page.Owner, filter, after, foundAtOnce+1, func(found moderation.Found) error {
		if len(page.Pastes) == foundAtOnce {
			asked.Set("after", formatPlace(last.Place()))
			page.Next = pathAdmin + "?" + asked.Encode()
			return nil
		}
		last = found
		page.Pastes = append(page.Pastes, newModeratedPaste(&found))
		return nil
	})
	if err != nil {
		return err
	}
	return show(w, r, p.adminView(page))
}

func newModeratedPaste(f *moderation.Found) moderatedPaste {
	made := moderatedPaste{
		ID: string(f.ID), Owner: f.OwnerName, Visibility: f.Visibility.String(), Title: text(shortened(cmp.Or(f.Title, "Untitled"), maxHeading)),
		Bytes: f.Bytes, Created: moment{f.CreatedAt}, Removed: moment{f.RemovedAt},
	}
	if f.RemovedBy != "" {
		made.Why = "by " + f.RemovedBy + ": " + f.Reason
	}
	return made
}

// act does to a paste or a user what an administrator has chosen.
func (p *Pages) act(w http.ResponseWriter, r *request) error {
	fields, err := r.form(5)
	if err != nil {
		return err
	}
	ctx, id, reason := r.Context(), fields.Get("id"), strings.TrimSpace(fields.Get("reason"))
	switch fields.Get("do") {
	case "remove":
		err = p.modules.Moderation.Remove.Do(ctx, id, reason)
	case "restore":
		err = p.modules.Moderation.Restore.Do(ctx, id)
	case "suspend":
		_, _, err = p.modules.Moderation.Suspend.Do(ctx, strings.TrimSpace(fields.Get("user")), reason, fields.Has("hide"))
	case "unsuspend":
		_, _, err = p.modules.Moderation.Suspend.Undo(ctx, strings.TrimSpace(fields.Get("user")))
	default:
		err = errBrokenForm
	}
	return done(w, err, pathAdmin)
}

// done leads back to a page once something was done. What was not found is said in words, which administrators may read.
func done(w http.ResponseWriter, err error, path string) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, fault.MessageOf(err))
	}
	if err != nil {
		return err
	}
	seeOther(w, path)
	return nil
}

// adminBlocks lists the blocked networks.
func (p *Pages) adminBlocks(w http.ResponseWriter, r *request) error {
	blocks, err := p.modules.Moderation.Block.All(r.Context())
	if err != nil {
		return err
	}
	page := blocksPage{layout: r.layout("Blocked networks", "")}
	for _, b := range blocks {
		page.Blocks = append(page.Blocks, blockedNetwork{b.Network.String(), b.Reason, moment{b.CreatedAt}, moment{b.ExpiresAt}})
	}
	return show(w, r, p.blocksView(page))
}

// blockDays are how long a block may last on the page: for good, or days.
var blockDays = map[string]time.Duration{"": 0, "1": 24 * time.Hour, "7": 7 * 24 * time.Hour, "30": 30 * 24 * time.Hour}

// changeBlocks adds or removes a block.
func (p *Pages) changeBlocks(w http.ResponseWriter, r *request) error {
	fields, err := r.form(4)
	if err != nil {
		return err
	}
	if network := fields.Get("remove"); network != "" {
		err = p.modules.Moderation.Block.Undo(r.Context(), network)
	} else {
		err = p.block(r, fields)
	}
	return done(w, err, pathAdminBlocks)
}

func (p *Pages) block(r *request, fields url.Values) error {
	lasts, known := blockDays[fields.Get("days")]
	if !known {
		return errBrokenForm
	}
	_, err := p.modules.Moderation.Block.Do(r.Context(), strings.TrimSpace(fields.Get("network")),
		strings.TrimSpace(fields.Get("reason")), lasts)
	return err
}

// adminAudit lists what was done last.
func (p *Pages) adminAudit(w http.ResponseWriter, r *request) error {
	page := auditPage{layout: r.layout("Audit log", "")}
	err := p.modules.Moderation.ListAudit.Do(r.Context(), audit.Entry{}, foundAtOnce, func(entry audit.Entry) error {
		page.Entries = append(page.Entries, entry)
		return nil
	})
	if err != nil {
		return err
	}
	return show(w, r, p.auditView(page))
}
