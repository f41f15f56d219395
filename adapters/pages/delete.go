package pages

import (
	"net/http"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// deletionPage asks whether to delete a paste.
type deletionPage struct {
	pastePage

	AskKey, Wrong bool // for the delete key; one that was sent is not that of the paste
}

// deletable returns the paste that the path names to its owner, and to everybody if it has a delete key.
func (p *Pages) deletable(r *request) (page deletionPage, err error) {
	stored, err := p.unopened(r)
	owned := stored.OwnedBy(r.viewer.User.ID) || stored.Burns && r.viewer.SignedIn() // which is not known of one that is still to be opened
	if err == nil && !owned && !stored.Burns && stored.DeleteKey == (paste.KeyHash{}) {
		err = paste.ErrNotFound
	}
	if err != nil {
		return deletionPage{}, err
	}
	page = deletionPage{pastePage: newPastePage(r, &stored)}
	page.Title, page.Description = "Delete "+page.Title, ""
	if !owned {
		key, _ := r.deleteKey()
		page.AskKey = key == ""
	}
	return page, nil
}

// deletion asks whether to delete a paste, and for its key where this browser has none.
func (p *Pages) deletion(w http.ResponseWriter, r *request) error {
	page, err := p.deletable(r)
	if err != nil {
		return err
	}
	return show(w, r, p.deletionView(page))
}

// delete deletes a paste and shows what is left.
func (p *Pages) delete(w http.ResponseWriter, r *request) error {
	page, err := p.deletable(r)
	if err != nil {
		return err
	}
	key, _ := r.deleteKey()
	if page.AskKey {
		fields, err := r.form(1)
		if err != nil {
			return err
		}
		key = paste.DeleteKey(strings.TrimSpace(fields.Get("key")))
	}
	err = p.modules.Pastes.DeleteOwn.Do(r.Context(), r.viewer, page.ID, key)
	if fault.Is(err, fault.Unauthenticated) {
		r.rejected, page.AskKey, page.Wrong = true, true, true
		setDeleteKey(w, r.Request, page.ID, "")
		guard(w, r)
		writeStatus(w, http.StatusUnauthorized)
		return write(r.Context(), w, p.deletionView(page))
	}
	if err != nil {
		return err
	}
	if key != "" {
		setDeleteKey(w, r.Request, page.ID, "")
	}
	if r.viewer.SignedIn() {
		seeOther(w, pathPastes)
	} else {
		seeOther(w, "/")
	}
	return nil
}

// givingUp asks whether to make a paste anonymous.
func (p *Pages) givingUp(w http.ResponseWriter, r *request) error {
	stored, err := p.unopened(r)
	if err == nil {
		_, err = stored.GivenUp(r.viewer.User.ID, paste.KeyHash{}, paste.Never, time.Time{})
	}
	if err != nil {
		return err
	}
	page := newPastePage(r, &stored)
	page.Title, page.Description = "Make "+page.Title+" anonymous", ""
	return show(w, r, p.givingUpView(page))
}

// giveUp makes a paste anonymous, and shows it with its delete key.
func (p *Pages) giveUp(w http.ResponseWriter, r *request) error {
	id := r.PathValue("id")
	key, err := p.modules.Pastes.GiveUpOwn.Do(r.Context(), r.viewer, id)
	if err != nil {
		return err
	}
	setDeleteKey(w, r.Request, id, unseenKey+string(key))
	seeOther(w, pathOfPaste(id))
	return nil
}

// A browser keeps the delete key of a paste that was created in it in a cookie for that paste's pages, in which this stands before a
// key that was not shown yet.
const unseenKey = "new."

const keyAge = 365 * 24 * time.Hour

func keyCookie(r *http.Request) string {
	if secure(r) {
		return "__Secure-gluepot-delete-key"
	}
	return "gluepot-delete-key"
}

// deleteKey returns the key that the browser has for the paste, or "", and whether it was not shown yet.
func (r *request) deleteKey() (key paste.DeleteKey, unseen bool) {
	cookie, err := r.Cookie(keyCookie(r.Request))
	if err != nil || cookie.Value == "" {
		return "", false
	}
	r.keyed = true
	text, unseen := strings.CutPrefix(cookie.Value, unseenKey)
	return paste.DeleteKey(text), unseen
}

// setDeleteKey has the browser keep the key of a paste, or none when it is empty.
func setDeleteKey(w http.ResponseWriter, r *http.Request, id, key string) {
	cookie := http.Cookie{ //nolint:gosec // without TLS, browsers would not take one that is Secure
		Name: keyCookie(r), Value: key, Path: pathOfPaste(id), MaxAge: int(keyAge.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: secure(r),
	}
	if key == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}
