// Package lists has the pages and feeds that list pastes.
package lists

import (
	"github.com/gluepot/gluepot/adapters/pages/site"
)

type pages struct{ *site.Site }

// Routes returns the pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s}
	routes := []site.Route{
		{Pattern: site.PathPastes, Get: site.SignedIn(p.own)},
		{Pattern: site.PathStarred, Get: site.SignedIn(p.starred)},
		{Pattern: "/~:name", Get: p.profile},
		{Pattern: "/~:name/feed.atom", Get: p.feed, Everyone: true},
	}
	if s.Config.Recent {
		routes = append(routes, site.Route{Pattern: site.PathRecent, Get: p.recent},
			site.Route{Pattern: site.PathRecent + ".atom", Get: p.recentFeed, Everyone: true})
	}
	if s.Modules.Search != nil {
		routes = append(routes, site.Route{Pattern: site.PathSearch, Get: p.search})
	}
	return routes
}
