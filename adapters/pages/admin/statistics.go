package admin

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

func (p *pages) statistics(w http.ResponseWriter, r *site.Request) error {
	totals, err := p.Modules.Stats.Show.Do(r.Context(), r.Actor())
	return site.Show(w, r, p.statisticsView(r.Layout("Statistics", ""), totals), err)
}
