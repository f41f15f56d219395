package pastes

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/gluepot/gluepot/adapters/pages/markdown"
	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/domain/paste"
)

const (
	// maxRenderedBytes bounds the Markdown and the tables on one page. The rest is shown as source.
	maxRenderedBytes = 64 << 10
	// rendering is how many times as long rendering a byte takes as showing it as code.
	rendering = 64
)

// renderers return the rendered form of code in their language, or nil.
var renderers = map[string]func(code string) templ.Component{
	"Markdown": document, "GitHub Flavored Markdown": document,
	"CSV": csvTable, "TSV": tsvTable,
}

func document(code string) templ.Component {
	sanitized, ok := markdown.HTML(strings.TrimPrefix(code, byteOrderMark))
	if !ok {
		return nil
	}
	return marked(sanitized)
}

// marked is HTML with marks in its texts. Its attributes, such as the titles of links, have replacement characters instead.
func marked(sanitized string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
		tokens, marker, code := html.NewTokenizer(strings.NewReader(sanitized)), marks.Of(ctx), false
		var b []byte
		for {
			switch tokens.Next() {
			case html.ErrorToken: // the end
				_, err := to.Write(b)
				return err
			case html.TextToken:
				b = marker.Append(b, string(tokens.Text()), !code)
			default:
				tag := string(tokens.Raw())
				if tag == "<code>" || tag == "</code>" {
					code = tag == "<code>"
				}
				b = append(b, marks.Plain(tag)...)
			}
		}
	})
}

// inLanguage sets the language of ?lang=, if there is one with that name.
func (p *pages) inLanguage(r *http.Request, found *paste.Document) {
	known, err := p.Modules.Languages.FindByName.Do(r.URL.Query().Get("lang"))
	if err != nil {
		return
	}
	found.Pasties = slices.Clone(found.Pasties)
	for i := range found.Pasties {
		found.Pasties[i].Language = known.Name
	}
}
