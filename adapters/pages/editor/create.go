// Package editor has the form that creates, forks and edits pastes.
package editor

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

type pages struct{ *site.Site }

// Routes returns the routes of these pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s}
	return []site.Route{
		{Pattern: "/", Get: p.front, Post: p.hintAtRaw(site.Form(p.create))},
		{Pattern: "/:id/fork", Get: p.fork},
		{Pattern: "/:id/edit", Get: p.SignedIn(p.editing), Post: site.Form(p.edit)},
	}
}

func (p *pages) newFormPage(r *site.Request, form pasteForm) *formPage {
	signedIn, lifetimes := r.Viewer.SignedIn(), p.Modules.Pastes.CreateOwn.Lifetimes(r.Viewer)
	if limit := lifetimes.Bound(unlessEqual(form.Lifetime, "")); limit != nil {
		form.Lifetime = *limit
	}
	form.Lifetime = cmp.Or(form.Lifetime, string(paste.Never))
	return &formPage{
		Layout: r.Layout("", "Store code snippets and share them by link"), Form: form,
		Start: p.startLanguage(r), Lifetimes: lifetimes,
		Owned: signedIn || form.Tags != "" || form.Visibility != paste.Unlisted.String(),
	}
}

// front shows the form for a new paste, or a link to sign in first.
func (p *pages) front(w http.ResponseWriter, r *site.Request) error {
	r.Public = true
	return p.showNew(w, r, pasteForm{
		Visibility: paste.Unlisted.String(), SignedIn: r.Viewer.SignedIn(),
		Snippets: []snippet{{Number: 1, Language: p.startLanguage(r)}},
	})
}

func (p *pages) fork(w http.ResponseWriter, r *site.Request) error {
	doc, err := p.Read(r)
	if err == nil && doc.Burns { // a copy would not burn
		err = paste.ErrNotFound
	}
	if err != nil {
		return err
	}
	form, err := editForm(&doc)
	if err != nil {
		return err
	}
	form.Tags, form.Base, form.SignedIn, form.Origin = "", "", r.Viewer.SignedIn(), string(doc.ID)
	if doc.Visibility == paste.Public {
		form.Visibility = paste.Unlisted.String()
	}
	for i := range form.Snippets {
		form.Snippets[i].ID = ""
	}
	return p.showNew(w, r, form)
}

func (p *pages) showNew(w http.ResponseWriter, r *site.Request, form pasteForm) error {
	page := p.newFormPage(r, form)
	page.Canonical = "/"
	if page.Deleted = form.Origin == "" && r.URL.Query().Has("deleted"); page.Deleted {
		page.Here = "/"
	}
	page.Closed = p.Modules.Pastes.CreateOwn.Allow(r.Viewer) != nil
	return p.showForm(w, r, http.StatusOK, page)
}

// signInToSend is the message above a form whose session has ended.
const signInToSend = "You are no longer signed in. Nothing is lost: sign in in another tab, then send this form again."

// formStatuses maps the errors after which the form is shown again to its status.
var formStatuses = map[fault.Kind]int{
	fault.Invalid: http.StatusBadRequest, fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden: http.StatusForbidden,
	fault.Exhausted: http.StatusTooManyRequests,
}

// hintAtRaw tells programs that send text in place of the form, as curl -d does, where to send it.
func (p *pages) hintAtRaw(handler site.Handler) site.Handler {
	return func(w http.ResponseWriter, r *site.Request) error {
		err := handler(w, r)
		if !errors.Is(err, site.ErrBrokenForm) || strings.Contains(r.Header.Get("Accept"), "text/html") {
			return err
		}
		raw := p.Address(r.Request) + p.Config.BasePath + "/raw"
		return fault.New(fault.Invalid, "This path accepts only the form on its page. Send text or a file to "+raw+
			": curl --data-binary @FILE "+raw)
	}
}

func (p *pages) create(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	form, err := readPasteForm(fields)
	if err != nil {
		return err
	}
	page := p.newFormPage(r, form)
	if status := page.change(); status != 0 {
		return p.showForm(w, r, status, page)
	}
	draft, err := page.Form.draft()
	if form.SignedIn && !r.Viewer.SignedIn() { // would create an anonymous paste by accident
		err = token.ErrRejected
	}
	var created pastes.NewPaste
	if err == nil {
		created, err = p.Modules.Pastes.CreateOwn.Do(r.Context(), r.Actor(), draft)
	}
	if err == nil {
		if created.Key != "" {
			site.SetDeleteKey(w, r, string(created.ID), site.UnseenKey+string(created.Key))
		}
		site.ShowOnce(w, r, site.PathOfPaste(string(created.ID)), "created")
		if form.Cipher != nil { // no redirect: the script adds the key to the address
			site.KeepPrivate(w)
			w.Header().Set("Location", p.Link(site.PathOfPaste(string(created.ID))))
			w.WriteHeader(http.StatusCreated)
			return nil
		}
		return p.SeeOther(w, site.PathOfPaste(string(created.ID)))
	}
	status := formStatuses[fault.KindOf(err)]
	if status == 0 {
		return err
	}
	page.explain(err)
	if status == http.StatusUnauthorized {
		page.Wrong, page.Form.SignedIn = problem{Text: signInToSend}, false // sending it again creates an anonymous paste
	}
	if quota, ok := errors.AsType[*paste.QuotaError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(quota.Retry.Seconds()))))
		minutes := english.Plural(int(math.Ceil(quota.Retry.Minutes())), "minute", "")
		page.Wrong.Text += " Send this again in " + minutes + "."
	}
	return p.showForm(w, r, status, page)
}
