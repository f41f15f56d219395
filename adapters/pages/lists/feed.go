package lists

import (
	"encoding/xml"
	"net/http"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) recentFeed(w http.ResponseWriter, r *site.Request) error {
	page, err := p.Modules.Pastes.Browse.Recent(r.Context(), "", paste.Cursor{})
	if err != nil {
		return err
	}
	return p.writeFeed(w, r, p.Config.SiteName+": recent pastes", site.PathRecent, p.Config.SiteName,
		time.Unix(0, 0), page.Pastes)
}

func (p *pages) feed(w http.ResponseWriter, r *site.Request) error {
	profile, err := p.Modules.Pastes.Browse.Public(r.Context(), r.PathValue("name"), paste.Selection{})
	if err != nil {
		return err
	}
	name := profile.Owner.Name.String()
	return p.writeFeed(w, r, "Pastes of "+name, site.PathOfUser(name), name, profile.Owner.CreatedAt, profile.Pastes)
}

// The parts of a feed (RFC 4287).
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated time.Time   `xml:"updated"`
		Author  string      `xml:"author>name"`
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomEntry struct {
		ID        string    `xml:"id"`
		Title     string    `xml:"title"`
		Published time.Time `xml:"published"`
		Updated   time.Time `xml:"updated"`
		Link      atomLink  `xml:"link"`
		Author    string    `xml:"author>name,omitempty"` // empty: the feed's
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
)

// writeFeed writes the feed of a page. since is the time of a feed without entries.
func (p *pages) writeFeed(w http.ResponseWriter, r *site.Request, title, page, author string, since time.Time,
	pastes []paste.Summary) error {
	origin := p.Address(r.Request)
	feed := atomFeed{
		ID: origin + page, Title: title, Author: author, Updated: since,
		Links: []atomLink{{"self", origin + r.URL.EscapedPath()}, {"alternate", origin + page}},
	}
	for i := range pastes {
		link, edited := origin+site.PathOfPaste(string(pastes[i].ID)), pastes[i].EditedAt
		if i == 0 || edited.After(feed.Updated) {
			feed.Updated = edited
		}
		feed.Entries = append(feed.Entries, atomEntry{
			ID: link, Title: titleOf(&pastes[i]),
			Published: pastes[i].CreatedAt.Truncate(time.Second), Updated: edited, Link: atomLink{"alternate", link},
			Author: pastes[i].OwnerName,
		})
	}
	body, err := xml.Marshal(feed)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	_, err = w.Write(append([]byte(xml.Header), body...))
	return err
}
