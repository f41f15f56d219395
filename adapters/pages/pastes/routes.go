// Package pastes has the pages that show one paste and act on it.
package pastes

import (
	"github.com/gluepot/gluepot/adapters/pages/highlight"
	"github.com/gluepot/gluepot/adapters/pages/site"
)

type pages struct {
	*site.Site

	colours *highlight.Highlighter
}

// Routes returns the pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s, highlight.New(s.Modules.Languages, s.Config.HighlightCache, s.Config.HighlightTime)}
	routes := []site.Route{
		{Pattern: pathOEmbed, Get: p.oembed, Everyone: true},
		{Pattern: "/:id", Get: p.paste},
		{Pattern: "/:id/history", Get: p.history},
		{Pattern: "/:id/history/:edit", Get: p.revision, Post: p.restore},
		{Pattern: "/:id/delete", Get: p.deletion, Post: site.Form(p.delete), Unblocked: true},
		{Pattern: "/:id/anonymous", Get: site.SignedIn(p.givingUp), Post: p.giveUp},
		{Pattern: "/:id/embed", Get: p.embed, Everyone: true},
		{Pattern: "/:id/star", Post: site.Form(p.star)},
		{Pattern: "/:id/open", Post: p.open, Unblocked: true},
		{Pattern: "/:id/files.zip", Get: p.archive},
		{Pattern: "/:id/download/:pasty", Get: p.download},
		{Pattern: "/:id/raw/:pasty", Get: p.raw},
		{Pattern: "/:id/raw/:pasty/:edit", Get: p.raw},
	}
	if s.Config.Reports && s.Modules.Moderation != nil {
		routes = append(routes, site.Route{Pattern: "/:id/report", Get: p.reporting, Post: site.Form(p.report)})
	}
	return routes
}

const pathOEmbed = "/oembed"
