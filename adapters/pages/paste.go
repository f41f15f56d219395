package pages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// pastePage is what a paste's pages have in common, and what stands before its pasties.
type pastePage struct {
	layout

	ID      string
	Heading text
	Owner   string // a name, or "" where the reader may not know of the owner
	Created moment
	Expires moment // zero: never
	Tags    []string
	Edited  moment // zero: never
	Several bool   // pasties
	Private bool
	Owned   bool   // by the reader
	Keyed   bool   // the reader has its delete key
	Key     string // that key, to be shown once, or ""
	Stars   int64
	Starred bool   // by the reader
	Origin  string // the path of the paste that it is a fork of, if its reader may know
	Forked  text   // the title of that
	Snippet string // the HTML that shows it on another page; empty: none
	Burns   bool   // after reading
	Burnt   bool   // it is gone, and shown for the last time
	// Revision is the edit as which left it the paste is shown (paste.Content.AsOf); empty: it is shown as it is.
	Revision string
}

// pastyPart is what stands before the code of a pasty.
type pastyPart struct {
	pastePage

	Number          int
	Title           text
	Label           string // of its code, for readers of screens
	Language        string
	Lines, Bytes    int
	Raw, Download   string          // paths
	TooLong, Packed bool            // it is not shown at all; it has no line numbers
	Rendered        templ.Component // what it is shown as before its source; nil: that alone
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
	title := shortened(titleOf(found), maxHeading)
	page := pastePage{
		layout: r.layout(unmarked(title), description(found)),
		ID:     string(found.ID), Heading: text(title), Created: moment{found.CreatedAt}, Expires: moment{found.ExpiresAt},
		Tags: found.Tags, Several: len(found.Pasties) > 1, Private: found.Visibility == paste.Private,
		Owned: found.OwnedBy(r.viewer.User.ID), Stars: found.Stars, Starred: found.Starred, Burns: found.Burns,
	}
	if n := len(found.Edits); n > 0 {
		page.Edited.Time = found.Edits[n-1].At
	}
	return page
}

// titleOf returns the title of a paste, or what comes next to one.
func titleOf(found *paste.Document) string {
	if found.Encrypted() {
		return paste.Encrypted
	}
	if strings.TrimSpace(found.Title) != "" {
		return found.Title
	}
	for _, pasty := range found.Pasties {
		if strings.TrimSpace(pasty.Title) != "" {
			return pasty.Title
		}
	}
	return paste.Untitled
}

// maxDescription is the length of a description, in characters.
const maxDescription = 160

// description returns what previews of a link show of a paste: its languages, and how its code begins.
func description(found *paste.Document) string {
	if found.Encrypted() {
		return "Only those who have its key can read it"
	}
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
	found, err := p.modules.Pastes.Read.Do(r.Context(), r.viewer, r.PathValue("id"))
	return found, p.explained(r, err)
}

// explained returns the error of a paste that cannot be read, which says so where operators have removed it.
func (p *Pages) explained(r *request, err error) error {
	if err == nil {
		return nil
	}
	return p.modules.Pastes.Explain.Do(r.Context(), r.PathValue("id"), err)
}

// paste shows a paste.
func (p *Pages) paste(w http.ResponseWriter, r *request) error {
	found, encrypted, err := p.readAny(r)
	if errors.Is(err, paste.ErrBurns) {
		return p.burning(w, r, encrypted)
	}
	if err != nil {
		return p.explained(r, err)
	}
	r.public = found.Visibility == paste.Public
	page := newPastePage(r, &found)
	if page.Owner, err = p.ownerName(r.Context(), found.Owner); err != nil {
		return err
	}
	page.Canonical = p.canonical(pathOfPaste(page.ID))
	if key, unseen := r.deleteKey(); key.Fits(found.DeleteKey) {
		if page.Keyed = true; unseen {
			page.Key = string(key)
			setDeleteKey(w, r.Request, page.ID, page.Key)
		}
	}
	if found.Encrypted() {
		return p.showEncrypted(w, r, page, found.Cipher)
	}
	if err := p.showOrigin(r, &page, found.Origin); err != nil {
		return err
	}
	if found, err = p.inLanguage(r.Request, found); err != nil {
		return err
	}
	return p.showPaste(w, r, page, &found)
}

func (p *Pages) showPaste(w http.ResponseWriter, r *request, page pastePage, found *paste.Document) error {
	shown, leave, err := p.newPasteWriter(r, page, found)
	if err != nil {
		return err
	}
	defer leave()
	if !page.Private && !page.Burns {
		page.Snippet = p.snippet(r.Request, &page, embedWidth, embedHeight)
		page.OEmbed = p.origin(r.Request) + pathOEmbed + "?url=" + url.QueryEscape(p.origin(r.Request)+page.path(""))
	}
	return show(w, r, p.pasteView(page, shown.pasties(r.Context(), found.Pasties)))
}

// showOrigin says of a fork where it is from, unless that is gone or its reader may not read it.
func (p *Pages) showOrigin(r *request, page *pastePage, id paste.ID) error {
	if id == "" {
		return nil
	}
	origin, err := p.modules.Pastes.Read.Do(r.Context(), r.viewer, string(id))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	page.Origin, page.Forked = pathOfPaste(string(id)), text(shortened(titleOf(&origin), maxName))
	return nil
}

// largePage is the size in bytes of what a page shows from which rendering it takes a place in the queue.
const largePage = 256 << 10

// enter takes a place in the queue for a page that shows so many bytes, if it is large.
func (p *Pages) enter(ctx context.Context, size int) (leave func(), err error) {
	if size < largePage {
		return func() {}, nil
	}
	return p.large.enter(ctx)
}

// pasteWriter writes the pasties of a paste.
type pasteWriter struct {
	pages *Pages
	page  pastePage

	only                                          lineRange
	bytesLeft, linesLeft, renderedLeft, cellsLeft int
}

// newPasteWriter returns what writes the pasties of a paste once there is a place for that, which leave gives back.
func (p *Pages) newPasteWriter(r *request, page pastePage, found *paste.Document) (w *pasteWriter, leave func(), err error) {
	size, room := 0, maxShownBytes
	for _, pasty := range found.Pasties {
		size += len(pasty.Title) + len(pasty.Code)
		if isRendered(pasty.Language) {
			size += rendering * len(pasty.Code)
		}
	}
	if page.Burnt { // it has its place already, and there is no other page to see it on
		room, leave = size, func() {}
	} else if leave, err = p.enter(r.Context(), size); err != nil {
		return nil, nil, err
	}
	return &pasteWriter{
		pages: p, page: page, bytesLeft: room, linesLeft: maxShownLines,
		renderedLeft: maxRenderedBytes, cellsLeft: maxRenderedCells,
	}, leave, nil
}

// pasties yields what stands before the code of each, and what writes that.
func (w *pasteWriter) pasties(ctx context.Context, all []paste.Pasty) iter.Seq2[pastyPart, templ.Component] {
	return func(yield func(pastyPart, templ.Component) bool) {
		// A thousand pasties must not take a thousand times the time of one. Later ones are plain text, unless they are cached.
		colouring, cancel := context.WithTimeout(ctx, 5*w.pages.cfg.HighlightTime)
		defer cancel()
		for i, pasty := range all {
			part := w.part(i, &pasty)
			code := templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
				if part.Packed {
					return writeUnnumbered(ctx, to, pasty.Code)
				}
				anchor := ""
				if part.Several {
					anchor = strconv.Itoa(part.Number) + "-"
				}
				scope := part.ID + "/" + pasty.ID
				return writeCode(ctx, to, pasty.Code, anchor, w.only, w.pages.colours.Spans(colouring, scope, pasty.Language, pasty.Code))
			})
			if !yield(part, code) {
				return
			}
		}
	}
}

// part returns what stands before the code of a pasty, of which it takes the room.
func (w *pasteWriter) part(i int, pasty *paste.Pasty) pastyPart {
	part := pastyPart{
		pastePage: w.page, Number: i + 1, Title: text(pasty.Title), Language: unmarked(shortened(pasty.Language, maxName)),
		Lines: lines(pasty.Code), Bytes: len(pasty.Code),
		Raw:      w.pages.cfg.BasePath + "/raw/" + url.PathEscape(w.page.ID) + "/" + url.PathEscape(pasty.ID),
		Download: w.page.path("/download/" + url.PathEscape(pasty.ID)),
	}
	if w.page.Private || w.page.Burns { // for which the interface for programs wants a token
		part.Raw = w.page.path("/raw/" + url.PathEscape(pasty.ID))
	}
	if w.page.Revision != "" {
		part.Raw += "/" + w.page.Revision
	}
	if size := len(pasty.Title) + len(pasty.Code); size > w.bytesLeft {
		part.TooLong, part.Title = true, text(shortened(pasty.Title, maxName))
	} else {
		w.bytesLeft -= size
		if part.Packed = part.Lines > w.linesLeft; !part.Packed {
			w.linesLeft -= part.Lines
		}
	}
	if !part.TooLong && w.only == (lineRange{}) {
		part.Rendered = w.rendered(pasty)
	}
	name := unmarked(shortened(strings.TrimSpace(pasty.Title), maxName))
	if name == "" {
		name = "snippet " + strconv.Itoa(i+1)
	}
	part.Label = "Code of " + name
	return part
}
