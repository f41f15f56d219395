package pages

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// newFormPage returns the page that creates a paste.
func (p *Pages) newFormPage(r *request, form pasteForm) *formPage {
	signedIn := r.session.secret != ""
	return &formPage{
		layout: r.layout("", "Keeps code snippets for whoever has their link"), Form: form,
		Owned: signedIn || form.Tags != "" || form.Visibility != paste.Unlisted.String(),
	}
}

// front shows what this is, and a form, or where to sign in first. A form that was sent comes back in any case: its session may
// have ended since it was opened.
func (p *Pages) front(w http.ResponseWriter, r *request) error {
	page := p.newFormPage(r, newPasteForm(r.session.user))
	page.Closed = r.session.secret == "" && p.modules.Pastes.CreateOwn.TokenRequired()
	return p.showForm(w, r, http.StatusOK, page)
}

// signInToSend is for who has filled in a form without being signed in any more.
const signInToSend = "This needs somebody who has signed in. Nothing is lost: sign in in another tab, and send it again from here."

var errSignedOut = fault.New(fault.Unauthenticated, "You are no longer signed in.")

// create creates a paste and shows it, or shows the form again.
func (p *Pages) create(w http.ResponseWriter, r *request) error {
	form, err := readPasteForm(r)
	if err != nil {
		return err
	}
	page := p.newFormPage(r, form)
	if page.change() {
		return p.showForm(w, r, http.StatusOK, page)
	}
	if form.openedByOther(r) {
		page.Wrong.Text = fmt.Sprintf("This form was opened by somebody else than %s, who has signed in now, and nothing is saved yet. "+
			"Send it again to create the paste as %[1]s.", r.session.name)
		page.Form.Opener = string(r.session.user)
		return p.showForm(w, r, http.StatusConflict, page)
	}
	made, err := p.createFrom(r, &form)
	if err == nil {
		seeOther(w, pathOfPaste(string(made.ID)))
		return nil
	}
	status := http.StatusBadRequest
	switch fault.KindOf(err) {
	case fault.Invalid:
		page.explain(err)
	case fault.Unauthenticated:
		status = http.StatusUnauthorized
		page.Wrong.Text = signInToSend
		page.Form.Opener = "" // who sends it again without having signed in means it
	case fault.Exhausted:
		status = http.StatusTooManyRequests
		page.Wrong.Text = quotaText(w, err)
	default:
		return err
	}
	return p.showForm(w, r, status, page)
}

func (p *Pages) createFrom(r *request, form *pasteForm) (made pastes.Created, err error) {
	visitor := pastes.Visitor{Secret: r.session.secret, Client: paste.Client(r.RemoteAddr)}
	if visitor.Secret == "" && form.Opener != "" { // an anonymous paste could not be taken back
		return made, errSignedOut
	}
	draft, err := form.draft()
	if err != nil {
		return made, err
	}
	return p.modules.Pastes.CreateOwn.Do(r.Context(), visitor, draft)
}

// quotaText returns what to tell somebody who has used up a quota, and sets the header for programs.
func quotaText(w http.ResponseWriter, err error) string {
	refused, ok := errors.AsType[*paste.QuotaError](err)
	if !ok {
		return fault.MessageOf(err)
	}
	wait := refused.Usage.Retry()
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return fmt.Sprintf("You have created as many pastes as you may without having signed in. Send this again in %s.", inWords(wait))
}

// inWords returns a time rounded up.
func inWords(d time.Duration) string {
	n, unit := int(math.Ceil(d.Seconds())), "second"
	switch {
	case d > 2*time.Hour:
		n, unit = int(math.Ceil(d.Hours())), "hour"
	case d > 2*time.Minute:
		n, unit = int(math.Ceil(d.Minutes())), "minute"
	}
	if n != 1 {
		unit += "s"
	}
	return strconv.Itoa(n) + " " + unit
}
