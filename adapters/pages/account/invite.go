package account

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/identity"
)

// invitePage shows an invitation.
type invitePage struct {
	site.Layout

	Note      string
	Until     time.Time
	Providers []providerLink
}

func (p *pages) invite(w http.ResponseWriter, r *site.Request) error {
	code := r.PathValue("code")
	found, err := p.Modules.Accounts.ShowInvitation.Do(r.Context(), code)
	if err != nil {
		r.Rejected = errors.Is(err, identity.ErrUsedUp)
		return err
	}
	page := invitePage{
		Layout: r.Layout("You are invited", ""), Note: found.Note, Until: found.ExpiresAt, Providers: p.providers(url.Values{"invite": {code}}),
	}
	page.Here = ""
	site.KeepPrivate(w)
	return site.Show(w, r, p.inviteView(page))
}
