package pastes

import (
	"context"
	"encoding/csv"
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
	"CSV": func(code string) templ.Component { return table(code, ',') },
	"TSV": func(code string) templ.Component { return table(code, '\t') },
}

func document(code string) templ.Component {
	sanitized, ok := markdown.HTML(code)
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

// table returns values as a table, whose first row is its head, or nil for invalid text.
func table(code string, separator rune) templ.Component {
	values := csv.NewReader(strings.NewReader(code))
	values.Comma, values.FieldsPerRecord, values.LazyQuotes = separator, -1, true
	rows, err := values.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil
	}
	return tableView(rows)
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
