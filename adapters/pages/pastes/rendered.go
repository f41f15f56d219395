package pastes

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/gluepot/gluepot/adapters/pages/markdown"
	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/domain/paste"
)

const (
	// maxRenderedBytes limits the Markdown and the tables that one page renders. The rest is shown as source.
	maxRenderedBytes = 64 << 10
	// renderCost is how many times longer it takes to render a byte than to show it as code.
	renderCost = 64
)

// renderers maps languages to functions that render a part, or return nil.
var renderers = map[string]func(p *pages, part *pastyPart) templ.Component{
	"Markdown": (*pages).document, "GitHub Flavored Markdown": (*pages).document,
	"CSV": func(_ *pages, part *pastyPart) templ.Component { return csvTable(part.pasty.Code) },
	"TSV": func(_ *pages, part *pastyPart) templ.Component { return tsvTable(part.pasty.Code) },
}

func (p *pages) document(part *pastyPart) templ.Component {
	return p.markdown(part.pasty.Code, part.ids(), part.colour)
}

// ids returns those of the part's Markdown.
func (p *pastyPart) ids() *markdown.IDs {
	if p.Several() {
		return markdown.NewIDs(markdown.IDPrefix + strconv.Itoa(p.Number) + "-")
	}
	return markdown.NewIDs(markdown.IDPrefix)
}

// markdown renders Markdown as HTML, or returns nil.
func (p *pages) markdown(code string, ids *markdown.IDs, colour colourFunc) templ.Component {
	sanitized, ok := markdown.HTML(strings.TrimPrefix(code, byteOrderMark), ids)
	if !ok {
		return nil
	}
	return &document{pages: p, colour: colour, sanitized: sanitized}
}

// document is Markdown as HTML, with marks in its texts and colours in its code. Attributes, such as the titles of
// links, have replacement characters instead of marks.
type document struct {
	*pages

	colour    colourFunc
	sanitized string
}

// Render implements templ.Component.
func (d *document) Render(ctx context.Context, to io.Writer) error {
	tokens, marker := html.NewTokenizer(strings.NewReader(d.sanitized)), marks.Of(ctx)
	code, fence, late := false, "", false // fence is the language of the code block that begins here
	var b []byte
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end
			if late {
				b = append(b, `<p class="note">Some highlighting was not ready in time. Reload the page to see it.</p>`...)
			}
			_, err := to.Write(b)
			return err
		case html.TextToken:
			text := string(tokens.Text())
			if fence == "" {
				b = marker.Append(b, text, !code)
				continue
			}
			colours := d.colour(ctx, fence, text)
			for _, span := range colours.Spans {
				b = appendSpan(b, marker, text[:span.Length], span.Class, false)
				text = text[span.Length:]
			}
			b = marker.Append(b, text, false)
			fence, late = "", late || colours.Late
		default:
			tag := string(tokens.Raw())
			name, _ := tokens.TagName()
			switch closing := strings.HasPrefix(tag, "</"); {
			case string(name) == "pre" && !closing:
				tag = `<div class="fence"><button class="copy" type="button" hidden>Copy</button><pre tabindex="0">`
			case string(name) == "pre":
				tag = "</pre></div>"
			case string(name) == "code":
				code, fence = !closing, d.languageOf(tag)
			}
			b = append(b, marks.Plain(tag)...)
		}
	}
}

var codeTag = regexp.MustCompile(`^<code class="language-([^"]*)">$`)

// languageOf returns the name of the language that a code tag names, or "".
func (p *pages) languageOf(tag string) string {
	if match := codeTag.FindStringSubmatch(tag); match != nil {
		if lang, err := p.Modules.Languages.FindByName.Do(html.UnescapeString(match[1])); err == nil {
			return lang.Name
		}
	}
	return ""
}

// overrideLanguage shows the pasties in the language of ?lang=, if there is one with that name.
func (p *pages) overrideLanguage(r *http.Request, doc *paste.Document) {
	lang, err := p.Modules.Languages.FindByName.Do(r.URL.Query().Get("lang"))
	if err != nil {
		return
	}
	doc.Pasties = slices.Clone(doc.Pasties)
	for i := range doc.Pasties {
		doc.Pasties[i].Language = lang.Name
	}
}
