package account

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

// identitiesPage has the accounts at providers that the reader signs in with.
type identitiesPage struct {
	site.Layout

	Linked []linkedIdentity
	Others []providerLink // that can be linked
}

type linkedIdentity struct{ Label, Key, Subject string }

// identities shows the accounts that the reader signs in with.
func (p *pages) identities(w http.ResponseWriter, r *site.Request) error {
	linked, err := p.Modules.Accounts.Identities.Do(r.Context(), reader(r))
	if err != nil {
		return err
	}
	page := identitiesPage{Layout: r.Layout("Your accounts elsewhere", "")}
	labels := make(map[string]string)
	for _, source := range p.Modules.Accounts.Providers.Do() {
		labels[source.Key] = source.Label
		if _, ok := linked[source.Key]; !ok {
			page.Others = append(page.Others, providerLink{source.Label, providerPath(source, url.Values{"link": {"1"}, "next": {pathIdentities}})})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(linked)) {
		label, ok := labels[key]
		if !ok {
			label = key
		}
		page.Linked = append(page.Linked, linkedIdentity{label, key, linked[key]})
	}
	return site.Show(w, r, p.identitiesView(page))
}

// unlink takes an account from those that the reader signs in with.
func (p *pages) unlink(w http.ResponseWriter, r *site.Request) error {
	if !site.Recently(w, r, pathIdentities) {
		return nil
	}
	fields, err := r.Fields(1)
	if err != nil {
		return err
	}
	if err := p.Modules.Accounts.UnlinkOwn.Do(r.Context(), r.Viewer, fields.Get("unlink")); err != nil {
		return err
	}
	site.SeeOther(w, pathIdentities)
	return nil
}
