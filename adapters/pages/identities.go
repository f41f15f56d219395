package pages

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
)

const pathIdentities = "/account/identities"

// identitiesPage has the accounts at providers that the reader signs in with.
type identitiesPage struct {
	layout

	Linked []linkedIdentity
	Others []providerLink // that can be linked
}

type linkedIdentity struct{ Label, Key, Subject string }

// identities shows the accounts that the reader signs in with.
func (p *Pages) identities(w http.ResponseWriter, r *request) error {
	linked, err := p.modules.Accounts.Identities.Do(r.Context(), reader(r))
	if err != nil {
		return err
	}
	page := identitiesPage{layout: r.layout("Your accounts elsewhere", "")}
	labels := make(map[string]string)
	for _, source := range p.modules.Accounts.Providers.Do() {
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
	return show(w, r, p.identitiesView(page))
}

// unlink takes an account from those that the reader signs in with.
func (p *Pages) unlink(w http.ResponseWriter, r *request) error {
	if !recently(w, r, pathIdentities) {
		return nil
	}
	fields, err := r.form(1)
	if err != nil {
		return err
	}
	if err := p.modules.Accounts.UnlinkOwn.Do(r.Context(), r.viewer, fields.Get("unlink")); err != nil {
		return err
	}
	seeOther(w, pathIdentities)
	return nil
}
