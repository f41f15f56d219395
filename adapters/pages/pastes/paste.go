// Package pastes has the pages that show one paste and act on it.
package pastes

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/adapters/pages/highlight"
	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
)

type pages struct {
	*site.Site

	colours *highlight.Highlighter
}

// Routes returns the pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s, highlight.New(s.Modules.Languages)}
	routes := []site.Route{
		{Pattern: pathOEmbed, Get: p.oembed, Everyone: true},
		{Pattern: pathPreview, Post: site.Form(p.preview)},
		{Pattern: "/:id", Get: p.pasteOrText},
		{Pattern: "/:id/history", Get: p.history},
		{Pattern: "/:id/history/:edit", Get: p.revision, Post: p.restore},
		{Pattern: "/:id/delete", Get: p.deletion, Post: site.Form(p.delete), Keyed: true},
		{Pattern: "/:id/anonymous", Get: p.SignedIn(p.givingUp), Post: p.giveUp},
		{Pattern: "/:id/embed", Get: p.embed, Everyone: true},
		{Pattern: "/:id/star", Post: site.Form(p.star)},
		{Pattern: "/:id/open", Get: p.opened, Post: p.open},
		{Pattern: "/:id/files.zip", Get: p.archive},
		{Pattern: "/:id/qr.svg", Get: p.qrCode},
		{Pattern: "/:id/download/:pasty", Get: p.code(true)},
		{Pattern: "/:id/download/:pasty/:edit", Get: p.code(true)},
		{Pattern: "/:id/raw", Get: p.code(false)},
		{Pattern: "/:id/raw/:pasty", Get: p.code(false)},
		{Pattern: "/:id/raw/:pasty/:edit", Get: p.code(false)},
	}
	if s.Config.Reports && s.Modules.Moderation != nil {
		routes = append(routes, site.Route{Pattern: "/:id/report", Get: p.reporting, Post: site.Form(p.report)})
	}
	return routes
}

const pathOEmbed = "/oembed"

// pastePage is the part of a paste's pages before its pasties.
type pastePage struct {
	site.Layout

	Paste   *paste.Document
	Heading marks.Text
	Owner   string    // a name, or "" if the reader may not know it
	Edited  time.Time // zero: never
	Owned   bool      // by the reader
	Keyed   bool      // the reader has its delete key
	Key     string    // the delete key, to be shown once, or ""
	Link    string    // the address of the page
	Created bool      // just now, by this browser
	Sealed  bool      // encrypted: the link needs the key behind its #
	Forked  string    // the title of the forked paste, if the reader may read it
	Snippet string    // the HTML to embed it; empty: none
	Clone   string    // the command that clones it; empty: none
	Burnt   bool      // deleted, and shown for the last time
	// Wraps is how ?wrap asks for lines, and WrapOn and WrapOff are links to the page with it; empty: none.
	Wraps           wraps
	WrapOn, WrapOff string
	// Revision is the edit after which the paste is shown (paste.Content.AsOf); empty: the current paste.
	Revision string
}

// pastyPart is a pasty on a page.
type pastyPart struct {
	*pastePage

	Number              int
	Title               marks.Text
	Label               string // of its code, for screen readers
	Language            string
	Lines, Bytes        int
	Raw, Download       string          // paths
	TooLong, Unnumbered bool            // it is not shown; it is shown without line numbers
	Rendered            templ.Component // shown before the source; nil: none

	pasty *paste.Pasty
	tint  tint
	only  lineRange
}

// Prose reports whether it is in no language: its lines are wrapped.
func (p *pastyPart) Prose() bool { return p.Language == language.PlainText }

func (p *pastePage) path(below string) string { return site.PathOfPaste(string(p.Paste.ID)) + below }

// Several reports whether there are several pasties.
func (p *pastePage) Several() bool { return len(p.Paste.Pasties) > 1 }

// Private reports whether only the owner may read the paste.
func (p *pastePage) Private() bool { return p.Paste.Visibility == paste.Private }

func newPastePage(r *site.Request, found *paste.Document) pastePage {
	title := site.Shortened(site.TitleOf(found), site.MaxHeading)
	page := pastePage{
		Layout: r.Layout(marks.Plain(title), ""), Paste: found, Heading: marks.Text(title),
		Owned: found.OwnedBy(r.Viewer.User.ID),
	}
	if n := len(found.Edits); n > 0 {
		page.Edited = found.Edits[n-1].At
	}
	page.wrapping(r.URL.Query())
	return page
}

// wraps says whether long lines are wrapped. Without a wish, those of prose are, and all are on a narrow screen.
type wraps string

const (
	wrapped   wraps = "wrapped" // the class in the style sheet
	unwrapped wraps = "unwrapped"
)

// wrapping sets what the page's query asks for, and the links to change that.
func (p *pastePage) wrapping(query url.Values) {
	switch query.Get("wrap") {
	case "no":
		p.Wraps = unwrapped
	default:
		if query.Has("wrap") {
			p.Wraps = wrapped
		}
	}
	query.Set("wrap", "")
	p.WrapOn = "?" + query.Encode()
	query.Set("wrap", "no")
	p.WrapOff = "?" + query.Encode()
}

// wraps returns how the lines of a part are shown.
func (p *pastyPart) wraps() string {
	if p.Wraps == "" && p.Prose() {
		return string(wrapped)
	}
	return string(p.Wraps)
}

// maxOpenFiles is how many files are listed at once. A longer list is folded.
const maxOpenFiles = 30

// description returns the text for link previews: the first lines.
func description(found *paste.Document) string {
	if found.Encrypted() {
		return "An encrypted paste"
	}
	for _, pasty := range found.Pasties {
		if begins := strings.TrimSpace(paste.Preview(strings.TrimLeft(pasty.Code, " \r\n"))); begins != "" {
			return marks.Plain(begins)
		}
	}
	return "An empty paste"
}

// pasteOrText shows the paste at /:id. At /:id.txt it answers with the paste's code: the router's parameters are whole
// segments.
func (p *pages) pasteOrText(w http.ResponseWriter, r *site.Request) error {
	if id, isText := strings.CutSuffix(r.PathValue("id"), ".txt"); isText && id != "" {
		r.SetPathValue("id", id)
		return p.code(false)(w, r)
	}
	return p.paste(w, r)
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
	if p.handOver(r, &page); page.Created {
		r.ForgetOnce(w, page.path(""))
	}
	if page.Canonical = page.path(""); !page.Private() && !found.Burns {
		page.Description, page.Address = description(&found), page.Link
	}
	if found.Owner != "" {
		owner, err := p.Modules.Users.ShowProfile.ByID(r.Context(), found.Owner)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		page.Owner = owner.Name.String()
	}
	if key, unseen := r.DeleteKey(); key.Fits(found.DeleteKey) {
		if page.Keyed = true; unseen {
			page.Key, page.Fixed = string(key), true
			site.ShowsSecret(w)
			site.SetDeleteKey(w, r, string(found.ID), page.Key)
		}
	}
	if found.Origin != "" {
		origin, err := p.Modules.Pastes.Read.Do(r.Context(), r.Viewer, string(found.Origin))
		if err == nil {
			page.Forked = site.Shortened(site.TitleOf(&origin), site.MaxName)
		} else if !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	p.inLanguage(r.Request, &found)
	return p.showPaste(w, r, page)
}

// handOver sets what the page says of its link, which it shows openly once the paste has just been created.
func (p *pages) handOver(r *site.Request, page *pastePage) {
	page.Link = p.Address(r.Request) + page.path("")
	page.Created = r.Once() != ""
}

func (p *pages) showPaste(w http.ResponseWriter, r *site.Request, page pastePage) error {
	if page.Sealed = page.Paste.Encrypted(); page.Sealed {
		return p.show(w, r, page.size(), p.encryptedView(page))
	}
	if !page.Paste.Burns && page.Link != "" {
		page.Clone = "git clone " + page.Link + ".git"
	}
	if !page.Private() && !page.Paste.Burns {
		page.Snippet = p.snippet(r.Request, &page, embedWidth, embedHeight)
		page.OEmbed = p.Address(r.Request) + pathOEmbed + "?url=" + url.QueryEscape(page.Link)
	}
	r.Policy = page.policy()
	return p.show(w, r, page.size(), p.pasteView(page))
}

// policy returns the Content-Security-Policy of a page with the pasties.
func (p *pastePage) policy() string {
	texts := func(yield func(string) bool) {
		going := yield(p.Paste.Title)
		for i := 0; going && i < len(p.Paste.Pasties); i++ {
			going = yield(p.Paste.Pasties[i].Title) && yield(p.Paste.Pasties[i].Code)
		}
	}
	if marks.Exceeded(texts) { // Copy asks for the code
		return notebookPolicy(site.AskingPolicy, p.Paste.Pasties)
	}
	return notebookPolicy(site.ContentPolicy, p.Paste.Pasties)
}

// largePage is the size in bytes from which rendering a page goes through the queue.
const largePage = 256 << 10

// rendered is the context of rendering a page. It is cancelled with the request, and has a deadline of its own.
type rendered struct {
	context.Context //nolint:containedctx // with its own deadline

	asked context.Context //nolint:containedctx // of the request
}

// Err implements context.Context.
func (r rendered) Err() error {
	if err := r.asked.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	return r.Context.Err()
}

// patient returns a request that has as long as rendering may take.
func (p *pages) patient(r *site.Request) (*site.Request, context.CancelFunc) {
	asked := r.Context()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(asked), p.Config.RenderTime)
	stop := context.AfterFunc(asked, func() {
		if errors.Is(asked.Err(), context.Canceled) {
			cancel()
		}
	})
	longer := *r
	longer.Request = r.WithContext(rendered{ctx, asked})
	return &longer, func() { stop(); cancel() }
}

// show renders a page of this size. A large one waits in the queue.
func (p *pages) show(w http.ResponseWriter, r *site.Request, size int, page templ.Component) error {
	r, cancel := p.patient(r)
	defer cancel()
	if size >= largePage {
		leave, err := p.Large.Enter(r.Context())
		if err != nil {
			return err
		}
		defer leave()
	}
	return site.Show(w, r, page, nil)
}

// size returns the size of the paste for show: 0 for what was opened, because open has entered the queue.
func (p *pastePage) size() (size int) {
	if p.Burnt {
		return 0
	}
	for _, pasty := range p.Paste.Pasties {
		size += len(pasty.Title) + len(pasty.Code)
		if renderers[pasty.Language] != nil || pasty.Language == jupyter {
			size += rendering * len(pasty.Code)
		}
	}
	if p.Paste.Encrypted() {
		size = len(p.Paste.Cipher.Data)
	}
	return size
}

// parts returns the pasties of a page, with only some lines of each.
func (p *pages) parts(ctx context.Context, page *pastePage, only lineRange) (all []pastyPart) {
	bytesLeft, linesLeft, renderedLeft := site.MaxShownBytes, maxShownLines, maxRenderedBytes
	if page.Burnt { // no other page will show it
		bytesLeft = math.MaxInt
	}
	tinting := newTinting(ctx)
	for i := range page.Paste.Pasties {
		pasty := &page.Paste.Pasties[i]
		part := p.part(page, i, pasty)
		part.only = only
		part.tint = tinting.within(p.colours, string(page.Paste.ID)+"/"+pasty.ID)
		if shown := len(pasty.Title) + len(pasty.Code); shown > bytesLeft {
			part.TooLong, part.Title = true, marks.Text(site.Shortened(pasty.Title, site.MaxName))
		} else {
			bytesLeft -= shown
			if part.Unnumbered = part.Lines > linesLeft; !part.Unnumbered {
				linesLeft -= part.Lines
			}
			if render := renderers[pasty.Language]; render != nil && only == (lineRange{}) && len(pasty.Code) <= renderedLeft {
				renderedLeft -= len(pasty.Code)
				part.Rendered = render(p, &part)
			} else if pasty.Language == jupyter && only == (lineRange{}) {
				part.Rendered = p.notebook(&part, &renderedLeft)
			}
		}
		all = append(all, part)
	}
	return all
}

// code returns the part's code as HTML.
func (p *pastyPart) code(colours highlight.Colours) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
		if p.Unnumbered {
			return writeUnnumbered(ctx, to, p.pasty.Code, p.Prose())
		}
		anchor := ""
		if p.Several() {
			anchor = strconv.Itoa(p.Number) + "-"
		}
		return writeCode(ctx, to, p.pasty.Code, anchor, p.Prose(), p.only, colours.Spans)
	})
}

// part returns a pasty of a page without its code.
func (p *pages) part(page *pastePage, i int, pasty *paste.Pasty) pastyPart {
	name := marks.Plain(site.Shortened(strings.TrimSpace(pasty.Title), site.MaxName))
	part := pastyPart{
		pastePage: page, pasty: pasty, Number: i + 1, Title: marks.Text(pasty.Title),
		Label:    "Code of " + cmp.Or(name, "snippet "+strconv.Itoa(i+1)),
		Language: marks.Plain(site.Shortened(pasty.Language, site.MaxName)), Lines: lines(pasty.Code), Bytes: len(pasty.Code),
		Raw:      p.Config.BasePath + "/raw" + page.path("/"+url.PathEscape(pasty.ID)),
		Download: page.path("/download/" + url.PathEscape(pasty.ID)),
	}
	if page.Private() || page.Paste.Burns { // the interface for programs wants a token
		part.Raw = page.path("/raw/" + url.PathEscape(pasty.ID))
	}
	if page.Revision != "" {
		part.Raw += "/" + page.Revision
		part.Download += "/" + page.Revision
	}
	return part
}

func (p *pages) star(w http.ResponseWriter, r *site.Request, sent url.Values) error {
	do, id := sent.Get("do"), r.PathValue("id")
	if do != "star" && do != "unstar" {
		return site.ErrBrokenForm
	}
	return p.Done(w, site.PathOfPaste(id), p.Modules.Pastes.Star.Do(r.Context(), r.Actor(), id, do == "star"))
}
