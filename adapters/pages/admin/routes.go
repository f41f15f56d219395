// Package admin has the pages of administrators: all users' pastes, blocked networks, reports, and the audit log.
package admin

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

type pages struct{ *site.Site }

// Routes returns the pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s}
	if s.Modules.Moderation == nil {
		return nil
	}
	routes := []site.Route{
		{Pattern: site.PathAdmin, Get: administrators(p.admin), Post: administrators(site.Form(p.act)), Unblocked: true},
		{Pattern: pathBlocks, Get: administrators(p.adminBlocks), Post: administrators(site.Form(p.changeBlocks)), Unblocked: true},
		{Pattern: pathAudit, Get: administrators(p.adminAudit), Post: administrators(nothing)},
	}
	if s.Config.Reports {
		routes = append(routes, site.Route{
			Pattern: pathReports, Get: administrators(p.adminReports), Post: administrators(site.Form(p.changeReports)), Unblocked: true,
		})
	}
	return routes
}

// nothing is there for a method that a page does not take: strangers must not learn from a 405 that there is a page.
func nothing(http.ResponseWriter, *site.Request) error { return site.ErrNothing }

const (
	pathBlocks  = site.PathAdmin + "/blocks"
	pathReports = site.PathAdmin + "/reports"
	pathAudit   = site.PathAdmin + "/audit"
)
