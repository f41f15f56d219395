// Package pastes has the pages that show one paste and act on it.
package pastes

import (
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

	"github.com/gluepot/gluepot/adapters/internal/cache"
	"github.com/gluepot/gluepot/adapters/pages/highlight"
	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
)

type pages struct {
	*site.Site

	colours  *highlight.Highlighter
	pictures *cache.Cache[[]byte] // as PNG
	previews turns
}

// Routes returns the pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{Site: s, colours: highlight.New(s.Modules.Languages), pictures: newPictures()}
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
		{Pattern: "/:id/open", Get: p.afterOpen, Post: p.open},
		{Pattern: "/:id/files.zip", Get: p.archive},
		{Pattern: "/:id/qr.svg", Get: p.qrCode},
		{Pattern: "/:id" + pathPicture, Get: p.picture},
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

// pastePage is what the pages of a paste show apart from its pasties.
type pastePage struct {
	site.Layout

	Paste   *paste.Document
	Heading marks.Text
	Owner   string    // a name, or "" if the viewer may not know it
	Edited  time.Time // zero: never
	Owned   bool      // by the viewer
	HasKey  bool      // the viewer has the delete key
	Key     string    // the delete key, to be shown once, or ""
	Link    string    // the address of the page
	Created bool      // just now, by this browser
	// Encrypted says that the link needs a key in its fragment.
	Encrypted bool
	ForkOf    string // the title of the forked paste, or "" if the viewer may not read it
	Snippet   string // the HTML that embeds it, or ""
	Clone     string // the command that clones it, or ""
	Burnt     bool   // deleted, and shown for the last time
	// Incomplete says that characters may be replaced, because there are many invisible ones.
	Incomplete bool
	// Wraps is what the query asks for. WrapOn and WrapOff link to this page with and without wrapped lines, or are "".
	Wraps           wraps
	WrapOn, WrapOff string
	// Revision is the edit after which the paste is shown (paste.Content.AsOf), or "" for the current paste.
	Revision string
}

// pastyPart is a pasty on a page.
type pastyPart struct {
	*pastePage

	Number              int
	Title               marks.Text
	Label               string // for screen readers; unique on the page
	Language            string
	Lines, Bytes        int
	Raw, Download       string          // paths
	TooLong, Unnumbered bool            // not shown; shown without line numbers
	Rendered            templ.Component // shown before the source, or nil

	pasty  *paste.Pasty
	colour colourFunc
	only   lineRange
}

// Prose reports whether it is plain text, whose lines are wrapped.
func (p *pastyPart) Prose() bool { return p.Language == language.PlainText }

func (p *pastePage) path(below string) string { return site.PathOfPaste(string(p.Paste.ID)) + below }

// Several reports whether there are several pasties.
func (p *pastePage) Several() bool { return len(p.Paste.Pasties) > 1 }

// Private reports whether only the owner may read the paste.
func (p *pastePage) Private() bool { return p.Paste.Visibility == paste.Private }

func newPastePage(r *site.Request, doc *paste.Document) pastePage {
	title := site.Shortened(site.TitleOf(doc), site.MaxHeading)
	page := pastePage{
		Layout: r.Layout(marks.Plain(title), ""), Paste: doc, Heading: marks.Text(title),
		Owned: doc.OwnedBy(r.Viewer.User.ID),
	}
	if n := len(doc.Edits); n > 0 {
		page.Edited = doc.Edits[n-1].At
	}
	page.setWraps(r.URL.Query())
	return page
}

// wraps says whether long lines wrap. If it is empty, prose wraps, and on a narrow screen everything does.
type wraps string

const (
	wrapped   wraps = "wrapped" // a class of the style sheet
	unwrapped wraps = "unwrapped"
)

// setWraps sets what the query asks for, and the links that change it.
func (p *pastePage) setWraps(query url.Values) {
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

// wraps returns the class that says whether the part's lines wrap, or "".
func (p *pastyPart) wraps() string {
	if p.Wraps == "" && p.Prose() {
		return string(wrapped)
	}
	return string(p.Wraps)
}

// maxOpenFiles is the length up to which a list of files is unfolded at first.
const maxOpenFiles = 30

// description returns the text for link previews: the first lines of the first pasty that has any.
func description(doc *paste.Document) string {
	if doc.Encrypted() {
		return "An encrypted paste"
	}
	for _, pasty := range doc.Pasties {
		if preview := strings.TrimSpace(paste.Preview(strings.TrimLeft(pasty.Code, " \r\n"))); preview != "" {
			return marks.Plain(preview)
		}
	}
	return "An empty paste"
}

// pasteOrText shows the paste at /:id, and sends its code at /:id.txt: a parameter of the router is a whole segment.
func (p *pages) pasteOrText(w http.ResponseWriter, r *site.Request) error {
	if id, isText := strings.CutSuffix(r.PathValue("id"), ".txt"); isText && id != "" {
		r.SetPathValue("id", id)
		return p.code(false)(w, r)
	}
	return p.paste(w, r)
}

func (p *pages) paste(w http.ResponseWriter, r *site.Request) error {
	doc, encrypted, err := p.readAny(r)
	if errors.Is(err, paste.ErrBurns) {
		return p.burning(w, r, encrypted)
	}
	if err != nil {
		return p.Explained(r, err)
	}
	r.Public = doc.Visibility == paste.Public
	page := newPastePage(r, &doc)
	if p.setLink(r, &page); page.Created {
		r.ForgetOnce(w, page.path(""))
	}
	if page.Canonical = page.path(""); !page.Private() && !doc.Burns {
		page.Description, page.Address = description(&doc), page.Link
		if pasty, _ := pictured(&doc); pasty != nil {
			page.Picture = page.Link + pathPicture
		}
	}
	if doc.Owner != "" {
		owner, err := p.Modules.Users.ShowProfile.ByID(r.Context(), doc.Owner)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		page.Owner = owner.Name.String()
	}
	if key, unseen := r.DeleteKey(); key.Fits(doc.DeleteKey) {
		if page.HasKey = true; unseen {
			page.Key, page.Fixed = string(key), true
			site.ShowsSecret(w)
			site.SetDeleteKey(w, r, string(doc.ID), page.Key)
		}
	}
	if doc.Origin != "" {
		origin, err := p.Modules.Pastes.Read.Do(r.Context(), r.Viewer, string(doc.Origin))
		if err == nil {
			page.ForkOf = site.Shortened(site.TitleOf(&origin), site.MaxName)
		} else if !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	p.overrideLanguage(r.Request, &doc)
	return p.showPaste(w, r, page)
}

// setLink sets the page's link, and whether this browser has just created the paste. Then the page shows the link.
func (p *pages) setLink(r *site.Request, page *pastePage) {
	page.Link = p.Address(r.Request) + page.path("")
	page.Created = r.Once() != ""
}

func (p *pages) showPaste(w http.ResponseWriter, r *site.Request, page pastePage) error {
	if page.Encrypted = page.Paste.Encrypted(); page.Encrypted {
		return p.show(w, r, page.size(), p.encryptedView(page))
	}
	if !page.Paste.Burns && page.Link != "" {
		page.Clone = "git clone " + page.Link + ".git"
	}
	if !page.Private() && !page.Paste.Burns {
		page.Snippet = p.snippet(r.Request, &page, embedWidth, embedHeight)
		page.OEmbed = p.Address(r.Request) + pathOEmbed + "?url=" + url.QueryEscape(page.Link)
	}
	page.Incomplete = page.incomplete()
	r.Policy = page.policy()
	return p.show(w, r, page.size(), p.pasteView(page))
}

// incomplete reports whether the page may not show all characters of the pasties. The copy button then takes their text
// from elsewhere.
func (p *pastePage) incomplete() bool {
	return marks.Exceeded(func(yield func(string) bool) {
		more := yield(p.Paste.Title)
		for i := 0; more && i < len(p.Paste.Pasties); i++ {
			more = yield(p.Paste.Pasties[i].Title) && yield(p.Paste.Pasties[i].Code)
		}
	})
}

// policy returns the Content-Security-Policy of a page with the pasties.
func (p *pastePage) policy() string {
	if p.Incomplete {
		return notebookPolicy(site.AskingPolicy, p.Paste.Pasties)
	}
	return notebookPolicy(site.ContentPolicy, p.Paste.Pasties)
}

// largePage is the size in bytes from which a page waits in the queue before it is rendered.
const largePage = 256 << 10

// renderContext is the context in which a page is rendered. It is cancelled with the request, but has its own deadline.
type renderContext struct {
	context.Context //nolint:containedctx // has the deadline

	parent context.Context //nolint:containedctx // the request's
}

// Err implements context.Context.
func (r renderContext) Err() error {
	if err := r.parent.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	return r.Context.Err()
}

// withRenderTime returns the request with the deadline for rendering a page.
func (p *pages) withRenderTime(r *site.Request) (*site.Request, context.CancelFunc) {
	parent := r.Context()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), p.Config.RenderTime)
	stop := context.AfterFunc(parent, func() {
		if errors.Is(parent.Err(), context.Canceled) {
			cancel()
		}
	})
	longer := *r
	longer.Request = r.WithContext(renderContext{ctx, parent})
	return &longer, func() { stop(); cancel() }
}

// show renders a page of this size. A large one waits in the queue.
func (p *pages) show(w http.ResponseWriter, r *site.Request, size int, page templ.Component) error {
	r, cancel := p.withRenderTime(r)
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

// size returns the size of the paste for show. It is 0 for a burnt paste, because open has already waited in the queue.
func (p *pastePage) size() (size int) {
	if p.Burnt {
		return 0
	}
	for _, pasty := range p.Paste.Pasties {
		size += len(pasty.Title) + len(pasty.Code)
		if renderers[pasty.Language] != nil || pasty.Language == jupyter {
			size += renderCost * len(pasty.Code)
		}
	}
	if p.Paste.Encrypted() {
		size = len(p.Paste.Cipher.Data)
	}
	return size
}

// parts returns the pasties of a page, each with the selected lines.
func (p *pages) parts(ctx context.Context, page *pastePage, only lineRange) (all []pastyPart) {
	bytesLeft, linesLeft, renderedLeft := site.MaxShownBytes, maxShownLines, maxRenderedBytes
	if page.Burnt { // no other page will show it
		bytesLeft = math.MaxInt
	}
	colouring := newColouring(ctx)
	for i := range page.Paste.Pasties {
		pasty := &page.Paste.Pasties[i]
		part := p.part(page, i, pasty)
		part.only = only
		part.colour = colouring.scope(p.colours, string(page.Paste.ID)+"/"+pasty.ID)
		if size := len(pasty.Title) + len(pasty.Code); size > bytesLeft {
			part.TooLong, part.Title = true, marks.Text(site.Shortened(pasty.Title, site.MaxName))
		} else {
			bytesLeft -= size
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
		Label:    page.label(i+1, name),
		Language: marks.Plain(site.Shortened(pasty.Language, site.MaxName)), Lines: lines(pasty.Code), Bytes: len(pasty.Code),
		Raw:      p.Config.BasePath + "/raw" + page.path("/"+url.PathEscape(pasty.ID)),
		Download: page.path("/download/" + url.PathEscape(pasty.ID)),
	}
	if page.Private() || page.Paste.Burns { // the API would ask for a token
		part.Raw = page.path("/raw/" + url.PathEscape(pasty.ID))
	}
	if page.Revision != "" {
		part.Raw += "/" + page.Revision
		part.Download += "/" + page.Revision
	}
	return part
}

// label names a pasty for screen readers. Pasties may share a name.
func (p *pastePage) label(number int, name string) string {
	snippet := "snippet " + strconv.Itoa(number)
	switch {
	case name == "":
		return snippet
	case p.Several():
		return name + ", " + snippet
	}
	return name
}

func (p *pages) star(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	do, id := fields.Get("do"), r.PathValue("id")
	if do != "star" && do != "unstar" {
		return site.ErrBrokenForm
	}
	return p.Done(w, site.PathOfPaste(id), p.Modules.Pastes.Star.Do(r.Context(), r.Actor(), id, do == "star"))
}
