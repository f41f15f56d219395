package pages

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/domain/paste"
)

// pastePage is what a paste's pages have in common, and what stands before its pasties.
type pastePage struct {
	layout

	ID      string
	Heading text
	Owner   string // a name, or "" for nobody whom the reader may know of
	Created moment
	Expires moment // zero: never
	Tags    []string
	Edited  moment // zero: never
	Several bool   // pasties
	Private bool
	Owned   bool // by the reader
}

// pastyPart is what stands before the code of a pasty.
type pastyPart struct {
	pastePage

	Number          int
	Title           text
	Label           string // of its code, for readers of screens
	Language        string
	Lines, Bytes    int
	Raw, Download   string // paths
	TooLong, Packed bool   // it is not shown at all; it has no line numbers
}

// class returns that of its code.
func (p *pastyPart) class() string {
	if p.Packed {
		return "code packed"
	}
	return "code"
}

// pathOfPaste returns the path of a paste's page.
func pathOfPaste(id string) string { return "/" + url.PathEscape(id) }

// path returns the path of one of the pages of a paste.
func (p *pastePage) path(below string) string { return pathOfPaste(p.ID) + below }

// moment is a time as pages show it.
type moment struct{ time.Time }

// Machine returns it for programs (HTML's element time).
func (m moment) Machine() string { return m.UTC().Format(time.RFC3339) }

// Day returns its day for people.
func (m moment) Day() string { return m.UTC().Format("2 January 2006") }

// String returns it for people.
func (m moment) String() string { return m.UTC().Format("2 January 2006, 15:04 UTC") }

func newPastePage(r *request, found *paste.Document) pastePage {
	title := titleOf(found)
	page := pastePage{
		layout: r.layout(unmarked(title), description(found)),
		ID:     string(found.ID), Heading: text(title), Created: moment{found.CreatedAt}, Expires: moment{found.ExpiresAt},
		Tags: found.Tags, Several: len(found.Pasties) > 1, Private: found.Visibility == paste.Private,
		Owned: found.OwnedBy(r.session.user),
	}
	if n := len(found.Edits); n > 0 {
		page.Edited.Time = found.Edits[n-1].At
	}
	return page
}

// titleOf returns the title of a paste, or what comes next to one.
func titleOf(found *paste.Document) string {
	if strings.TrimSpace(found.Title) != "" {
		return found.Title
	}
	for _, pasty := range found.Pasties {
		if strings.TrimSpace(pasty.Title) != "" {
			return pasty.Title
		}
	}
	return "Untitled"
}

// maxDescription is the length of a description, in characters.
const maxDescription = 160

// description returns what previews of a link show of a paste: its languages, and how its code begins.
func description(found *paste.Document) string {
	if len(found.Pasties) == 0 {
		return "An empty paste"
	}
	first := found.Pasties[0]
	text := first.Language
	if more := len(found.Pasties) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	begins := []rune(strings.Join(strings.Fields(first.Code[:min(len(first.Code), 8*maxDescription)]), " "))
	if len(begins) > maxDescription {
		begins = append(begins[:maxDescription-1], '…')
	}
	return unmarked(text + ": " + strings.ToValidUTF8(string(begins), ""))
}

func (p *Pages) read(r *request) (paste.Document, error) {
	found, rejected, err := p.modules.Pastes.Read.Do(r.Context(), r.session.secret, r.parameters[0])
	r.rejected = r.rejected || rejected
	return found, err
}

// paste shows a paste.
func (p *Pages) paste(w http.ResponseWriter, r *request) error {
	found, err := p.read(r)
	if err != nil {
		return err
	}
	page := newPastePage(r, &found)
	if page.Owner, err = p.ownerName(r.Context(), found.Owner); err != nil {
		return err
	}
	// Pasties can be a thousand, each of which takes the time of one code.
	ctx, cancel := context.WithTimeout(r.Context(), codesHighlighted*p.cfg.HighlightTime)
	defer cancel()
	shown := pasteWriter{pages: p, page: page, bytesLeft: maxShownBytes, linesLeft: maxShownLines, marker: marker{left: maxMarks}}
	return show(w, r, p.pasteView(page, shown.pasties(ctx, found.Pasties)))
}

// codesHighlighted is how many codes may take as long as one may, on one page. Later ones are plain text, unless they are kept.
const codesHighlighted = 5

// pasteWriter writes the pasties of a paste.
type pasteWriter struct {
	pages *Pages
	page  pastePage

	bytesLeft, linesLeft int
	marker               marker
}

// pasties yields what stands before the code of each, and what writes that.
func (w *pasteWriter) pasties(ctx context.Context, all []paste.Pasty) iter.Seq2[pastyPart, templ.Component] {
	return func(yield func(pastyPart, templ.Component) bool) {
		for i := range all {
			part := w.part(i, &all[i])
			// Not the context of rendering, which has no deadline: what is not highlighted in time is written all the same.
			code := templ.ComponentFunc(func(_ context.Context, to io.Writer) error { return w.code(ctx, to, &part, &all[i]) })
			if !yield(part, code) {
				return
			}
		}
	}
}

// part returns what stands before the code of a pasty, of which it takes the room.
func (w *pasteWriter) part(i int, pasty *paste.Pasty) pastyPart {
	part := pastyPart{
		pastePage: w.page, Number: i + 1, Title: text(pasty.Title), Language: unmarked(pasty.Language),
		Lines: lines(pasty.Code), Bytes: len(pasty.Code),
		Raw:      w.pages.cfg.BasePath + "/raw/" + url.PathEscape(w.page.ID) + "/" + url.PathEscape(pasty.ID),
		Download: w.page.path("/download/" + url.PathEscape(pasty.ID)),
	}
	if w.page.Private { // for which the interface for programs wants a token
		part.Raw = w.page.path("/raw/" + url.PathEscape(pasty.ID))
	}
	name := unmarked(strings.TrimSpace(pasty.Title))
	if name == "" {
		name = "snippet " + strconv.Itoa(i+1)
	}
	part.Label = "Code of " + name
	if part.TooLong = part.Bytes > w.bytesLeft; !part.TooLong {
		w.bytesLeft -= part.Bytes
		if part.Packed = part.Lines > w.linesLeft; !part.Packed {
			w.linesLeft -= part.Lines
		}
	}
	return part
}

func (w *pasteWriter) code(ctx context.Context, to io.Writer, part *pastyPart, pasty *paste.Pasty) error {
	before := ""
	if w.page.Several {
		before = strconv.Itoa(part.Number) + "-"
	}
	switch {
	case part.Packed:
		return writeUnnumbered(to, pasty.Code, &w.marker)
	}
	if html := w.pages.highlighted(ctx, w.page.ID, pasty, before); html != nil && w.marker.left > maxHighlightedMarks {
		_, err := to.Write(html)
		return err
	}
	return writePlain(to, pasty.Code, before, &w.marker)
}

// highlighted returns the lines of a pasty's code as HTML, or nil. The paste is part of the key, so that nobody can find out by the
// clock what others hold; an edit changes the hash.
func (p *Pages) highlighted(ctx context.Context, id string, pasty *paste.Pasty, before string) []byte {
	return p.colours.highlight(ctx, codeKey{
		paste: id, pasty: pasty.ID, before: before, language: pasty.Language, code: maphash.String(p.seed, pasty.Code),
	}, pasty.Code)
}
