package pastes

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// embedPolicy is the policy of the only page that other sites may frame. The page runs no scripts.
const embedPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; " +
	"frame-ancestors *"

// The size of the frame in the embed code, in pixels.
const (
	embedWidth  = 720
	embedHeight = 400
)

// lineRange selects lines. The zero value selects all of them.
type lineRange struct{ first, last int }

func (l lineRange) holds(line int) bool { return l == lineRange{} || line >= l.first && line <= l.last }

var (
	errLines = fault.New(fault.Invalid, "lines must be one line number, or two such as 3-7.")
	errLink  = fault.New(fault.Invalid, "url must be the address of a paste on this site.")
)

// parseLines parses 3-7 or 3; "" selects all lines.
func parseLines(text string) (lineRange, error) {
	if text == "" {
		return lineRange{}, nil
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.ParseUint(from, 10, 31)
	last, err2 := strconv.ParseUint(to, 10, 31)
	if err != nil || err2 != nil || first == 0 || last < first {
		return lineRange{}, errLines
	}
	return lineRange{int(first), int(last)}, nil
}

// embed shows a paste, one of its pasties, or some of its lines in a frame. It ignores sessions: other sites must not
// frame private data.
func (p *pages) embed(w http.ResponseWriter, r *site.Request) error {
	doc, err := p.Read(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	page := newPastePage(r, &doc)
	if id := query.Get("pasty"); id != "" {
		only, err := doc.Pasty(id)
		if err != nil {
			return err
		}
		doc.Pasties = []paste.Pasty{only}
	}
	lines, err := parseLines(query.Get("lines"))
	if err != nil {
		return err
	}
	r.Policy = notebookPolicy(embedPolicy, doc.Pasties)
	page.WrapOn, page.WrapOff = "", ""
	return p.show(w, r, page.size(), p.embedView(page, query.Get("theme"), lines))
}

func (p *pages) snippet(r *http.Request, page *pastePage, width, height int) string {
	return fmt.Sprintf(`<iframe src="%s" title="%s" width="%d" height="%d" loading="lazy"></iframe>`,
		html.EscapeString(p.Address(r)+page.path("/embed")), html.EscapeString(page.Title), width, height)
}

// oembed tells programs how to embed the paste at a URL of this site, with a response of type rich
// (https://oembed.com, 2.3.4).
func (p *pages) oembed(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	if format := query.Get("format"); format != "" && format != "json" {
		site.Enclose(w, r, site.TextContentType, "")
		w.WriteHeader(http.StatusNotImplemented)
		_, err := fmt.Fprintln(w, "Only JSON is available: leave the format out.")
		return err
	}
	link, err := url.Parse(query.Get("url"))
	if err != nil {
		return errLink
	}
	path, ours := strings.CutPrefix(link.Scheme+"://"+link.Host+link.Path, p.Address(r.Request))
	if !ours || path != "" && path[0] != '/' {
		return errLink
	}
	r.SetPathValue("id", strings.Trim(path, "/"))
	doc, err := p.Read(r)
	if err != nil {
		return err
	}
	page := newPastePage(r, &doc)
	width, height := atMost(embedWidth, query.Get("maxwidth")), atMost(embedHeight, query.Get("maxheight"))
	site.Enclose(w, r, "application/json", "")
	return json.NewEncoder(w).Encode(map[string]any{
		"type": "rich", "version": "1.0", "title": page.Title, "provider_name": p.Config.SiteName,
		"provider_url": p.Address(r.Request),
		"html":         p.snippet(r.Request, &page, width, height), "width": width, "height": height,
	})
}

func atMost(size int, limit string) int {
	if n, err := strconv.Atoi(limit); err == nil && n > 0 {
		return min(size, n)
	}
	return size
}
