package admin

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/audit"
)

// auditPage has what operators and administrators have done.
type auditPage struct {
	site.Layout

	Entries []audit.Entry
}

// adminAudit lists what was done last.
func (p *pages) adminAudit(w http.ResponseWriter, r *site.Request) error {
	page := auditPage{Layout: r.Layout("Audit log", "")}
	err := p.Modules.Moderation.ListAudit.Do(r.Context(), audit.Entry{}, foundAtOnce, func(entry audit.Entry) error {
		page.Entries = append(page.Entries, entry)
		return nil
	})
	if err != nil {
		return err
	}
	return site.Show(w, r, p.auditView(page))
}
