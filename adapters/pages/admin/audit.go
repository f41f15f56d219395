package admin

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/audit"
)

func (p *pages) adminAudit(w http.ResponseWriter, r *site.Request) error {
	var entries []audit.Entry
	err := p.Modules.Moderation.ListAudit.Do(r.Context(), audit.Entry{}, foundAtOnce, func(entry audit.Entry) error {
		entries = append(entries, entry)
		return nil
	})
	if err != nil {
		return err
	}
	return site.Show(w, r, p.auditView(r.Layout("Audit log", ""), entries))
}
