// Package admin has the pages of administrators: all users' pastes, users, invitations, blocked networks, reports,
// statistics, and the audit log.
package admin

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

type pages struct{ *site.Site }

// Routes returns the routes of these pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s}
	if s.Modules.Moderation == nil {
		return nil
	}
	routes := []site.Route{
		{Pattern: site.PathAdmin, Get: p.recently(p.pastes), Post: p.recently(site.OwnForm(p.changePaste))},
		{Pattern: pathBlocks, Get: p.recently(p.adminBlocks), Post: p.recently(site.OwnForm(p.changeBlocks))},
		{Pattern: pathUsers, Get: p.recently(p.users)},
		{Pattern: pathUsers + "/:id", Get: p.recently(p.user), Post: p.recently(site.OwnForm(p.changeUser))},
		{
			Pattern: pathInvitations, Get: p.recently(p.invitations), Post: p.recently(site.OwnForm(p.changeInvitations)),
		},
		{Pattern: pathAudit, Get: p.recently(p.adminAudit)},
	}
	if s.Modules.Stats != nil {
		routes = append(routes, site.Route{Pattern: pathStatistics, Get: p.recently(p.statistics)})
	}
	if s.Config.Reports {
		routes = append(routes, site.Route{
			Pattern: pathReports, Get: p.recently(p.adminReports), Post: p.recently(site.OwnForm(p.changeReports)),
		})
	}
	for i := range routes {
		routes[i].Admins = true
	}
	return routes
}

const (
	pathUsers       = site.PathAdmin + "/users"
	pathInvitations = site.PathAdmin + "/invitations"
	pathBlocks      = site.PathAdmin + "/blocks"
	pathReports     = site.PathAdmin + "/reports"
	pathStatistics  = site.PathAdmin + "/statistics"
	pathAudit       = site.PathAdmin + "/audit"
)

// pageSize is how many items a page for administrators shows.
const pageSize = 50

// recently restricts a handler to administrators who have signed in within the last hour. Others must sign in again.
func (p *pages) recently(answer site.Handler) site.Handler {
	return func(w http.ResponseWriter, r *site.Request) error {
		if !r.Recent() {
			return p.SignInFirst(w, r.URL.RequestURI())
		}
		return answer(w, r)
	}
}

// into returns a function that appends its argument to a slice.
func into[T any](all *[]T) func(T) error {
	return func(one T) error {
		*all = append(*all, one)
		return nil
	}
}

// done redirects after a change. Administrators may know what does not exist, so NotFound becomes Invalid.
func (p *pages) done(w http.ResponseWriter, err error, path string) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, fault.MessageOf(err))
	}
	return p.Done(w, path, err)
}

func (p *pages) adminBlocks(w http.ResponseWriter, r *site.Request) error {
	blocks, err := p.Modules.Moderation.Block.All(r.Context(), r.Actor())
	return site.Show(w, r, p.blocksView(r.Layout("Blocked networks", ""), blocks), err)
}

// durations has the choices of forms, by days; "" is forever.
var durations = map[string]time.Duration{"": 0, "1": 24 * time.Hour, "7": 7 * 24 * time.Hour, "30": 30 * 24 * time.Hour}

func (p *pages) changeBlocks(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if network := fields.Get("remove"); network != "" {
		_, err := p.Modules.Moderation.Block.Undo(r.Context(), r.Actor(), network)
		return p.done(w, err, pathBlocks)
	}
	duration, ok := durations[fields.Get("days")]
	if !ok {
		return site.ErrBrokenForm
	}
	_, err := p.Modules.Moderation.Block.Do(r.Context(), r.Actor(), strings.TrimSpace(fields.Get("network")),
		strings.TrimSpace(fields.Get("reason")), duration)
	return p.done(w, err, pathBlocks)
}

func (p *pages) adminReports(w http.ResponseWriter, r *site.Request) error {
	var reports []moderation.Report
	err := p.Modules.Moderation.Report.All(r.Context(), r.Actor(), pageSize+1, into(&reports))
	more := len(reports) > pageSize
	return site.Show(w, r, p.reportsView(r.Layout("Reports", ""), reports[:min(len(reports), pageSize)], more), err)
}

func (p *pages) changeReports(w http.ResponseWriter, r *site.Request, fields url.Values) (err error) {
	switch fields.Get("do") {
	case "close":
		err = p.Modules.Moderation.Report.Close(r.Context(), r.Actor(), fields.Get("id"))
	case "remove":
		err = p.Modules.Moderation.Remove.Do(r.Context(), r.Actor(), fields.Get("paste"),
			strings.TrimSpace(fields.Get("reason")))
	default:
		err = site.ErrBrokenForm
	}
	return p.done(w, err, pathReports)
}

func (p *pages) adminAudit(w http.ResponseWriter, r *site.Request) error {
	after, err := site.ParseCursor(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	var entries []auditlog.Entry
	next := ""
	last := auditlog.Entry{ID: string(after.ID), At: after.CreatedAt}
	err = p.Modules.Moderation.ListAudit.Do(r.Context(), r.Actor(), last, pageSize+1, into(&entries))
	if len(entries) > pageSize {
		entries = entries[:pageSize]
		last = entries[pageSize-1]
		next = pathAudit + "?after=" + site.FormatCursor(paste.Cursor{CreatedAt: last.At, ID: paste.ID(last.ID)})
	}
	return site.Show(w, r, p.auditView(r.Layout("Audit log", ""), entries, next), err)
}
