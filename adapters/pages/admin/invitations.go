package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
)

type invitationsPage struct {
	site.Layout

	Find        string // text in notes, or an id
	Invitations []identity.Invitation
	Now         time.Time
	Next        string // or ""
	Created     string // the link of a new one, or ""
	Problem     string // or ""
}

func (p *pages) invitations(w http.ResponseWriter, r *site.Request) error {
	return p.showInvitations(w, r, nil)
}

// showInvitations shows a page of the invitations, the latest first: once with the link of a new one, or with the
// problem of the form.
func (p *pages) showInvitations(w http.ResponseWriter, r *site.Request, problem error) error {
	query := r.URL.Query()
	after, err := site.ParseCursor(query.Get("after"))
	if err != nil {
		return err
	}
	page := invitationsPage{
		Layout: r.Layout("Invitations", ""), Find: strings.TrimSpace(query.Get("find")), Now: time.Now(),
		Problem: fault.MessageOf(problem),
	}
	all, err := p.Modules.Accounts.Invite.All(r.Context(), r.Actor())
	if err != nil {
		return err
	}
	if once := r.Once(); once != "" {
		r.ForgetOnce(w, pathInvitations)
		id, code, _ := strings.Cut(once, ".")
		if slices.ContainsFunc(all, func(i identity.Invitation) bool { return string(i.ID) == id }) { // not revoked yet
			site.ShowsSecret(w)
			page.Created = p.Address(r.Request) + site.PathInvite + code
		}
	}
	slices.Reverse(all)
	page.Invitations = slices.DeleteFunc(all, func(i identity.Invitation) bool {
		earlier := i.CreatedAt.Compare(after.CreatedAt)
		return !strings.Contains(strings.ToLower(i.Note), strings.ToLower(page.Find)) && string(i.ID) != page.Find ||
			after.ID != "" && (earlier > 0 || earlier == 0 && string(i.ID) >= string(after.ID))
	})
	if len(page.Invitations) > pageSize {
		page.Invitations = page.Invitations[:pageSize]
		last := page.Invitations[pageSize-1]
		query.Set("after", site.FormatCursor(paste.Cursor{CreatedAt: last.CreatedAt, ID: paste.ID(last.ID)}))
		page.Next = pathInvitations + "?" + query.Encode()
	}
	if problem != nil {
		return site.FormAgain(w, r, problem, p.invitationsView(page))
	}
	return site.Show(w, r, p.invitationsView(page), nil)
}

// changeInvitations creates an invitation, whose link the page then shows once, or revokes one.
func (p *pages) changeInvitations(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if id := fields.Get("revoke"); id != "" {
		_, err := p.Modules.Accounts.Invite.Revoke(r.Context(), r.Actor(), id)
		return p.done(w, err, r.URL.RequestURI()) // to the same list
	}
	uses, err := strconv.Atoi(fields.Get("uses"))
	duration, ok := durations[fields.Get("days")]
	if err != nil || !ok || duration == 0 {
		return site.ErrBrokenForm
	}
	note := strings.TrimSpace(fields.Get("note"))
	invitation, code, err := p.Modules.Accounts.Invite.Do(r.Context(), r.Actor(), uses, duration, note)
	if err != nil {
		return p.showInvitations(w, r, err)
	}
	site.ShowOnce(w, r, pathInvitations, string(invitation.ID)+"."+code)
	return p.SeeOther(w, pathInvitations)
}
