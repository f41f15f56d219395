package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// profilePage is a user with public pastes.
type profilePage struct {
	layout

	Name        string
	Since       moment
	Contributor bool
	Supporter   bool
	pasteList
}

// pasteList is one page of a list of pastes.
type pasteList struct {
	Pastes []listedPaste
	Later  bool   // it is not the first page
	Next   string // path of the next one, or ""
}

// newPasteList returns the page with what was found after a place, of the list at a path.
func newPasteList(path string, after paste.Place, found []paste.Listed, more bool) pasteList {
	list := pasteList{Later: after != paste.Place{}}
	for _, listed := range found {
		list.Pastes = append(list.Pastes, newListedPaste(listed))
	}
	if n := len(found); more && n > 0 {
		list.Next = path + "?after=" + formatPlace(found[n-1].Place())
	}
	return list
}

// listedPaste is a paste in a list.
type listedPaste struct {
	Path       string
	Title      text
	Name       string // the title for readers of screens
	Visibility string
	Created    moment
	Expires    moment // zero: never
}

func newListedPaste(listed paste.Listed) listedPaste {
	title := listed.Title
	if strings.TrimSpace(title) == "" {
		title = "Untitled"
	}
	return listedPaste{
		Path: pathOfPaste(string(listed.ID)), Title: text(title), Name: unmarked(title), Visibility: listed.Visibility.String(),
		Created: moment{listed.CreatedAt}, Expires: moment{listed.ExpiresAt},
	}
}

// profile shows a user and what that user shows to everybody.
func (p *Pages) profile(w http.ResponseWriter, r *request) error {
	after, err := parsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	found, err := p.modules.Pastes.ListPublic.Do(r.Context(), r.parameters[0], after)
	if err != nil {
		return err
	}
	name := found.Owner.Name.String()
	return show(w, r, p.profileView(profilePage{
		layout: r.layout(name, "Code that "+name+" shows to everybody"),
		Name:   name, Since: moment{found.Owner.CreatedAt}, Contributor: found.Owner.Contributor, Supporter: found.Owner.SupporterMonths > 0,
		pasteList: newPasteList(pathOfUser(name), after, found.Pastes, found.More),
	}))
}

func pathOfUser(name string) string { return "/~" + url.PathEscape(name) }

// formatPlace returns a place as it stands in a query: 1795282550000000.k2j4x8m1.
func formatPlace(place paste.Place) string {
	return strconv.FormatInt(place.CreatedAt.UnixMicro(), 10) + "." + string(place.ID)
}

// parsePlace reads what formatPlace returns; "" is the zero place.
func parsePlace(text string) (paste.Place, error) {
	if text == "" {
		return paste.Place{}, nil
	}
	at, id, _ := strings.Cut(text, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	if err != nil || micros < minMicros || micros > maxMicros || !ident.Valid(id) {
		return paste.Place{}, errNothing
	}
	return paste.Place{CreatedAt: time.UnixMicro(micros).UTC(), ID: paste.ID(id)}, nil
}

// The beginning of the year 1 and the end of the year 9998 in microseconds since 1970: databases are asked about nothing earlier or
// later.
const (
	minMicros = -62_135_596_800_000_000
	maxMicros = 253_370_764_800_000_000
)

// ownerName returns the name of a paste's owner, or "" for one who has no profile to show, or is not there.
func (p *Pages) ownerName(ctx context.Context, id user.ID) (string, error) {
	if id == "" {
		return "", nil
	}
	owner, err := p.modules.Users.ShowOwner.Do(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return owner.Name.String(), nil
}
