package pastes

import (
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/adapters/pages/markdown"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// Limits of what one page renders as Markdown or tables. The rest is shown as source.
const (
	maxRenderedBytes = 64 << 10
	maxRenderedCells = 20_000
	// rendering is how many bytes of code take about as long as a byte that is rendered.
	rendering = 64
)

// isRendered reports whether a language is shown as something other than its source.
func isRendered(language string) bool {
	return slices.Contains([]string{"Markdown", "GitHub Flavored Markdown", "CSV", "TSV"}, language)
}

// rendered returns what a pasty is shown as, or nil where that is its source alone.
func (w *pasteWriter) rendered(pasty *paste.Pasty) templ.Component {
	if len(pasty.Code) > w.renderedLeft || !isRendered(pasty.Language) {
		return nil
	}
	w.renderedLeft -= len(pasty.Code)
	switch pasty.Language {
	case "CSV":
		return w.table(pasty.Code, ',')
	case "TSV":
		return w.table(pasty.Code, '\t')
	}
	html, ok := markdown.HTML(pasty.Code)
	if !ok {
		return nil
	}
	return templ.ComponentFunc(func(_ context.Context, to io.Writer) error {
		_, err := io.WriteString(to, html)
		return err
	})
}

// table returns a table of values with the head as its first row, or nil for other text.
func (w *pasteWriter) table(code string, separator rune) templ.Component {
	values := csv.NewReader(strings.NewReader(code))
	values.Comma, values.FieldsPerRecord, values.LazyQuotes = separator, -1, true
	rows, err := values.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		w.cellsLeft -= len(row)
	}
	if w.cellsLeft < 0 {
		return nil
	}
	return tableView(rows)
}

var errNoLanguage = fault.New(fault.Invalid, "No language has the name that lang asks for. Leave it out to see the paste in its own.")

// inLanguage returns a paste as a reader wants it highlighted, who can ask for a language with ?lang=.
func (p *pages) inLanguage(r *http.Request, found paste.Document) (paste.Document, error) {
	wanted := r.URL.Query().Get("lang")
	if wanted == "" {
		return found, nil
	}
	known, err := p.Modules.Languages.FindByName.Do(wanted)
	if err != nil {
		return found, errNoLanguage
	}
	found.Pasties = slices.Clone(found.Pasties)
	for i := range found.Pasties {
		found.Pasties[i].Language = known.Name
	}
	return found, nil
}
