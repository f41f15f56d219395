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

// listedPaste is a paste in a list.
type listedPaste struct {
	Path       string
	Title      text
	Name       string // the title for readers of screens
	Visibility string
	Tags       []tagLink
	Created    moment
	Edited     moment // zero: never
	Expires    moment // zero: never
	Burns      bool   // after reading
	Encrypted  bool
}

func newListedPaste(listed *paste.Listed) listedPaste {
	title := shortened(listed.Label(), maxHeading)
	shown := listedPaste{
		Path: pathOfPaste(string(listed.ID)), Title: text(title), Name: unmarked(title), Visibility: listed.Visibility.String(),
		Created: moment{listed.CreatedAt}, Expires: moment{listed.ExpiresAt},
		Burns: listed.Burns, Encrypted: listed.Encrypted,
	}
	if listed.EditedAt.After(listed.CreatedAt) {
		shown.Edited.Time = listed.EditedAt
	}
	return shown
}

// profile shows a user and what that user shows to everybody.
func (p *Pages) profile(w http.ResponseWriter, r *request) error {
	selection, err := parseSelection(r.URL.Query())
	if err != nil {
		return err
	}
	selection.Order = paste.ByCreation
	found, err := p.modules.Pastes.ListPublic.Do(r.Context(), r.PathValue("name"), selection.Tag, selection.After)
	if fault.Is(err, fault.NotFound) {
		moved, err := p.modules.Users.ShowFormer.Do(r.Context(), r.PathValue("name"))
		if err == nil {
			seeOther(w, pathOfUser(moved.Name.String()))
		}
		return err
	}
	if err != nil {
		return err
	}
	r.public = true
	name := found.Owner.Name.String()
	page := profilePage{
		layout: r.layout(name, "Code that "+name+" shows to everybody"),
		Name:   name, Since: moment{found.Owner.CreatedAt}, Contributor: found.Owner.Contributor, Supporter: found.Owner.SupporterMonths > 0,
		pasteList: newPasteList(pathOfUser(name), selection, found.Pastes, found.More),
	}
	page.Feed = pathOfUser(name) + "/feed.atom"
	return show(w, r, p.profileView(page))
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

// ownerName returns the name of a paste's owner, or "" without a public profile.
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
