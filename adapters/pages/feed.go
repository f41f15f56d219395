package pages

import (
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

const pathRecent = "/recent"

// recentPage has the newest public pastes.
type recentPage struct {
	layout
	pasteList
}

// recent shows what users show to everybody.
func (p *Pages) recent(w http.ResponseWriter, r *request) error {
	after, err := parsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	found, more, err := p.modules.Pastes.ListRecent.Do(r.Context(), after)
	if err != nil {
		return err
	}
	page := recentPage{r.layout("Recent pastes", ""), newPasteList(pathRecent, paste.Selection{After: after}, found, more)}
	page.Feed = pathRecent + ".atom"
	return show(w, r, p.recentView(page))
}

// recentFeed is recent for programs that read feeds.
func (p *Pages) recentFeed(w http.ResponseWriter, r *request) error {
	found, _, err := p.modules.Pastes.ListRecent.Do(r.Context(), paste.Place{})
	if err != nil {
		return err
	}
	return p.writeFeed(w, r, service+": recent pastes", pathRecent, service, time.Unix(0, 0), found)
}

// feed has the newest public pastes of a user.
func (p *Pages) feed(w http.ResponseWriter, r *request) error {
	found, err := p.modules.Pastes.ListPublic.Do(r.Context(), r.PathValue("name"), "", paste.Place{})
	if err != nil {
		return err
	}
	name := found.Owner.Name.String()
	return p.writeFeed(w, r, "Pastes of "+name, pathOfUser(name), name, found.Owner.CreatedAt, found.Pastes)
}

// The parts of a feed (RFC 4287).
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Author  string      `xml:"author>name"`
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomEntry struct {
		ID        string   `xml:"id"`
		Title     string   `xml:"title"`
		Published string   `xml:"published"`
		Updated   string   `xml:"updated"`
		Link      atomLink `xml:"link"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
)

// writeFeed writes the feed of a page. Without entries it was updated at since.
func (p *Pages) writeFeed(w http.ResponseWriter, r *request, title, page, author string, since time.Time, found []paste.Listed) error {
	site := p.cfg.PublicURL
	if site == "" {
		site = r.URL.Scheme + "://" + r.Host
	}
	feed := atomFeed{
		ID: site + page, Title: title, Author: author,
		Links: []atomLink{{"self", site + r.URL.EscapedPath()}, {"alternate", site + page}},
	}
	if len(found) > 0 {
		since = found[0].EditedAt
	}
	for i := range found {
		link, edited := site+pathOfPaste(string(found[i].ID)), found[i].EditedAt
		if edited.After(since) {
			since = edited
		}
		feed.Entries = append(feed.Entries, atomEntry{
			ID: link, Title: strings.Map(xmlRune, shortened(found[i].Label(), maxHeading)),
			Published: moment{found[i].CreatedAt}.Machine(), Updated: moment{edited}.Machine(), Link: atomLink{"alternate", link},
		})
	}
	feed.Updated = moment{since}.Machine()
	body, err := xml.Marshal(feed)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	_, err = w.Write(append([]byte(xml.Header), body...))
	return err
}

// xmlRune returns a character, or U+FFFD for one that XML does not take.
func xmlRune(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
		return '\ufffd'
	}
	return r
}
