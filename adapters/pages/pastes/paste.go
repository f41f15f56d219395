package pastes

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

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// pastePage is the part of a paste's pages before its pasties.
type pastePage struct {
	site.Layout

	ID      string
	Heading marks.Text
	Owner   string // a name, or "" if the reader may not know it
	Created site.Moment
	Expires site.Moment // zero: never
	Tags    []string
	Edited  site.Moment // zero: never
	Several bool        // there are several pasties
	Private bool
	Owned   bool   // by the reader
	Keyed   bool   // the reader has its delete key
	Key     string // the delete key, to be shown once, or ""
	Stars   int64
	Starred bool       // by the reader
	Origin  string     // the path of the forked paste, if the reader may read it
	Forked  marks.Text // the title of the forked paste
	Snippet string     // the HTML to embed it; empty: none
	Burns   bool       // after reading
	Burnt   bool       // deleted, and shown for the last time
	// Revision is the edit after which the paste is shown (paste.Content.AsOf); empty: the current paste.
	Revision string
}

// pastyPart is the part of a page above a pasty's code.
type pastyPart struct {
	pastePage

	Number              int
	Title               marks.Text
	Label               string // of its code, for screen readers
	Language            string
	Lines, Bytes        int
	Raw, Download       string          // paths
	TooLong, Unnumbered bool            // it is not shown; it is shown without line numbers
	Rendered            templ.Component // shown before the source; nil: none
}

func (p *pastePage) path(below string) string { return site.PathOfPaste(p.ID) + below }

func newPastePage(r *site.Request, found *paste.Document) pastePage {
	title := site.Shortened(site.TitleOf(found), site.MaxHeading)
	page := pastePage{
		Layout: r.Layout(marks.Plain(title), description(found)),
		ID:     string(found.ID), Heading: marks.Text(title), Created: site.At(found.CreatedAt), Expires: site.At(found.ExpiresAt),
		Tags: found.Tags, Several: len(found.Pasties) > 1, Private: found.Visibility == paste.Private,
		Owned: found.OwnedBy(r.Viewer.User.ID), Stars: found.Stars, Starred: found.Starred, Burns: found.Burns,
	}
	if n := len(found.Edits); n > 0 {
		page.Edited.Time = found.Edits[n-1].At
	}
	return page
}

const maxDescription = 160

// description returns the text for link previews: the languages, and the beginning of the code.
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
	begins := strings.ToValidUTF8(first.Code[:min(len(first.Code), 8*maxDescription)], "")
	return marks.Plain(text + ": " + site.Shortened(strings.Join(strings.Fields(begins), " "), maxDescription))
}

func (p *pages) paste(w http.ResponseWriter, r *site.Request) error {
	found, encrypted, err := p.readAny(r)
	if errors.Is(err, paste.ErrBurns) {
		return p.burning(w, r, encrypted)
	}
	if err != nil {
		return p.Explained(r, err)
	}
	r.Public = found.Visibility == paste.Public
	page := newPastePage(r, &found)
	if page.Owner, err = p.ownerName(r.Context(), found.Owner); err != nil {
		return err
	}
	page.Canonical = p.Canonical(site.PathOfPaste(page.ID))
	if key, unseen := r.DeleteKey(); key.Fits(found.DeleteKey) {
		if page.Keyed = true; unseen {
			page.Key = string(key)
			site.SetDeleteKey(w, r.Request, page.ID, page.Key)
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

func (p *pages) showPaste(w http.ResponseWriter, r *site.Request, page pastePage, found *paste.Document) error {
	shown, leave, err := p.newPasteWriter(r, page, found)
	if err != nil {
		return err
	}
	defer leave()
	if !page.Private && !page.Burns {
		page.Snippet = p.snippet(r.Request, &page, embedWidth, embedHeight)
		page.OEmbed = p.Origin(r.Request) + pathOEmbed + "?url=" + url.QueryEscape(p.Origin(r.Request)+page.path(""))
	}
	return site.Show(w, r, p.pasteView(page, shown.pasties(r.Context(), found.Pasties)))
}

// showOrigin links a fork to its origin, if the reader may read that.
func (p *pages) showOrigin(r *site.Request, page *pastePage, id paste.ID) error {
	if id == "" {
		return nil
	}
	origin, err := p.Modules.Pastes.Read.Do(r.Context(), r.Viewer, string(id))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	page.Origin, page.Forked = site.PathOfPaste(string(id)), marks.Text(site.Shortened(site.TitleOf(&origin), site.MaxName))
	return nil
}

// largePage is the size in bytes from which rendering a page goes through the queue.
const largePage = 256 << 10

// enter waits in the queue, if the page is large.
func (p *pages) enter(ctx context.Context, size int) (leave func(), err error) {
	if size < largePage {
		return func() {}, nil
	}
	return p.Large.Enter(ctx)
}

type pasteWriter struct {
	pages *pages
	page  pastePage

	only                                          lineRange
	bytesLeft, linesLeft, renderedLeft, cellsLeft int
}

// newPasteWriter waits in the queue and returns the writer of the pasties. leave leaves the queue.
func (p *pages) newPasteWriter(r *site.Request, page pastePage, found *paste.Document) (w *pasteWriter, leave func(), err error) {
	size, room := 0, site.MaxShownBytes
	for _, pasty := range found.Pasties {
		size += len(pasty.Title) + len(pasty.Code)
		if isRendered(pasty.Language) {
			size += rendering * len(pasty.Code)
		}
	}
	if page.Burnt { // open has entered the queue, and no other page will show it
		room, leave = size, func() {}
	} else if leave, err = p.enter(r.Context(), size); err != nil {
		return nil, nil, err
	}
	return &pasteWriter{
		pages: p, page: page, bytesLeft: room, linesLeft: maxShownLines,
		renderedLeft: maxRenderedBytes, cellsLeft: maxRenderedCells,
	}, leave, nil
}

// pasties yields the part above each pasty's code, and the code.
func (w *pasteWriter) pasties(ctx context.Context, all []paste.Pasty) iter.Seq2[pastyPart, templ.Component] {
	return func(yield func(pastyPart, templ.Component) bool) {
		// One budget for all pasties: later ones are plain text, unless they are cached.
		colouring, cancel := context.WithTimeout(ctx, 5*w.pages.Config.HighlightTime)
		defer cancel()
		for i, pasty := range all {
			part := w.part(i, &pasty)
			code := templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
				if part.Unnumbered {
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

// part returns the part above a pasty's code, and counts the pasty against the limits of the page.
func (w *pasteWriter) part(i int, pasty *paste.Pasty) pastyPart {
	part := pastyPart{
		pastePage: w.page, Number: i + 1, Title: marks.Text(pasty.Title), Language: marks.Plain(site.Shortened(pasty.Language, site.MaxName)),
		Lines: lines(pasty.Code), Bytes: len(pasty.Code),
		Raw:      w.pages.Config.BasePath + "/raw/" + url.PathEscape(w.page.ID) + "/" + url.PathEscape(pasty.ID),
		Download: w.page.path("/download/" + url.PathEscape(pasty.ID)),
	}
	if w.page.Private || w.page.Burns { // the interface for programs wants a token
		part.Raw = w.page.path("/raw/" + url.PathEscape(pasty.ID))
	}
	if w.page.Revision != "" {
		part.Raw += "/" + w.page.Revision
	}
	if size := len(pasty.Title) + len(pasty.Code); size > w.bytesLeft {
		part.TooLong, part.Title = true, marks.Text(site.Shortened(pasty.Title, site.MaxName))
	} else {
		w.bytesLeft -= size
		if part.Unnumbered = part.Lines > w.linesLeft; !part.Unnumbered {
			w.linesLeft -= part.Lines
		}
	}
	if !part.TooLong && w.only == (lineRange{}) {
		part.Rendered = w.rendered(pasty)
	}
	name := marks.Plain(site.Shortened(strings.TrimSpace(pasty.Title), site.MaxName))
	if name == "" {
		name = "snippet " + strconv.Itoa(i+1)
	}
	part.Label = "Code of " + name
	return part
}

// ownerName returns the owner's name, or "" if the profile is not public.
func (p *pages) ownerName(ctx context.Context, id user.ID) (string, error) {
	if id == "" {
		return "", nil
	}
	owner, err := p.Modules.Users.ShowProfile.ByID(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return owner.Name.String(), nil
}

func (p *pages) star(w http.ResponseWriter, r *site.Request, sent url.Values) error {
	do, id := sent.Get("do"), r.PathValue("id")
	if do != "star" && do != "unstar" {
		return site.ErrBrokenForm
	}
	return site.Done(w, site.PathOfPaste(id), p.Modules.Pastes.StarSeen.Do(r.Context(), r.Viewer, id, do == "star"))
}
