package account

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/identity"
)

func (p *pages) invite(w http.ResponseWriter, r *site.Request) error {
	code := r.PathValue("code")
	found, err := p.Modules.Accounts.ShowInvitation.Do(r.Context(), code)
	if err != nil {
		r.Rejected = errors.Is(err, identity.ErrUsedUp)
		return err
	}
	page := r.Layout("You are invited", "")
	page.Here = ""
	site.KeepPrivate(w)
	return site.Show(w, r, p.inviteView(page, found, p.providers(url.Values{"invite": {code}})))
}
