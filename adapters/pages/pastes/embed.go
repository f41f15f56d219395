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

// embedPolicy is for the only page that other sites may frame. It runs no scripts.
const embedPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; " +
	"frame-ancestors *"

// The size of the frame in the HTML to copy, in pixels.
const (
	embedWidth  = 720
	embedHeight = 400
)

// lineRange selects lines. The zero value is all.
type lineRange struct{ first, last int }

func (l lineRange) holds(line int) bool { return l == lineRange{} || line >= l.first && line <= l.last }

var (
	errLines = fault.New(fault.Invalid, "lines are two numbers such as 3-7, or one.")
	errLink  = fault.New(fault.Invalid, "url is missing, or no address of this site. Send that of a paste's page.")
)

// parseLines parses 3-7 or 3; "" is all.
func parseLines(text string) (lineRange, error) {
	if text == "" {
		return lineRange{}, nil
	}
	from, to, several := strings.Cut(text, "-")
	if !several {
		to = from
	}
	first, err := strconv.ParseUint(from, 10, 31)
	last, err2 := strconv.ParseUint(to, 10, 31)
	if err != nil || err2 != nil || first == 0 || last < first {
		return lineRange{}, errLines
	}
	return lineRange{int(first), int(last)}, nil
}

// embed shows a paste, one of its pasties or some lines in a frame. It ignores sessions: other sites must not frame
// private data.
func (p *pages) embed(w http.ResponseWriter, r *site.Request) error {
	found, err := p.Read(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	page := newPastePage(r, &found)
	if id := query.Get("pasty"); id != "" {
		only, err := found.Pasty(id)
		if err != nil {
			return err
		}
		found.Pasties = []paste.Pasty{only}
	}
	lines, err := parseLines(query.Get("lines"))
	if err != nil {
		return err
	}
	r.Policy = notebookPolicy(embedPolicy, found.Pasties)
	page.WrapOn, page.WrapOff = "", ""
	return p.show(w, r, page.size(), p.embedView(page, query.Get("theme"), lines))
}

func (p *pages) snippet(r *http.Request, page *pastePage, width, height int) string {
	return fmt.Sprintf(`<iframe src="%s" title="%s" width="%d" height="%d" loading="lazy"></iframe>`,
		html.EscapeString(p.Address(r)+page.path("/embed")), html.EscapeString(page.Title), width, height)
}

// oembed answers how to embed the paste at a URL of this site: with a response of type rich (https://oembed.com,
// 2.3.4).
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
	found, err := p.Read(r)
	if err != nil {
		return err
	}
	page := newPastePage(r, &found)
	width, height := atMost(embedWidth, query.Get("maxwidth")), atMost(embedHeight, query.Get("maxheight"))
	site.Enclose(w, r, "application/json", "")
	return json.NewEncoder(w).Encode(map[string]any{
		"type": "rich", "version": "1.0", "title": page.Title, "provider_name": p.Config.SiteName,
		"provider_url": p.Address(r.Request),
		"html":         p.snippet(r.Request, &page, width, height), "width": width, "height": height,
	})
}

func atMost(size int, wanted string) int {
	if n, err := strconv.Atoi(wanted); err == nil && n > 0 {
		return min(size, n)
	}
	return size
}
