package account

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

type identitiesPage struct {
	site.Layout

	Linked []linkedIdentity
	Others []providerLink // that can be linked
}

type linkedIdentity struct {
	Label, Key, Subject string
	Off                 bool // the provider is not configured any more
}

func (p *pages) identities(w http.ResponseWriter, r *site.Request) error {
	account, err := p.Modules.Users.ShowSelf.Do(r.Context(), r.Viewer)
	if err != nil {
		return err
	}
	page := identitiesPage{Layout: r.Layout("Your accounts elsewhere", "")}
	linked, labels := account.Services, make(map[string]string)
	for _, source := range p.Modules.Accounts.Providers.Do() {
		labels[source.Key] = source.Label
		if _, ok := linked[source.Key]; !ok {
			page.Others = append(page.Others, providerLink{source.Label, providerPath(source, url.Values{"link": {"1"}, "next": {pathIdentities}})})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(linked)) {
		label, ok := labels[key]
		page.Linked = append(page.Linked, linkedIdentity{cmp.Or(label, key), key, linked[key], !ok})
	}
	return site.Show(w, r, p.identitiesView(page))
}

func (p *pages) unlink(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	return site.Done(w, pathIdentities, p.Modules.Accounts.UnlinkOwn.Do(r.Context(), r.Viewer, fields.Get("unlink")))
}
