// Package editor has the form that creates, forks and edits pastes.
package editor

import (
	"github.com/gluepot/gluepot/adapters/pages/site"
)

type pages struct{ *site.Site }

// Routes returns the pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s}
	return []site.Route{
		{Pattern: "/", Get: p.front, Post: site.Form(p.create)},
		{Pattern: "/:id/fork", Get: p.fork},
		{Pattern: "/:id/edit", Get: p.editing, Post: site.Form(p.edit)},
	}
}
