package pastes

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/adapters/pages/markdown"
	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

// jupyter is the language of notebooks, in version 4 of their format (https://nbformat.readthedocs.io).
const jupyter = "Jupyter Notebook"

// Limits of a notebook. Above the first three, only its source is shown; above the others, some pictures are not.
const (
	maxCellsShown    = 1000
	maxObjects       = 20_000  // in its JSON
	maxValues        = 300_000 // in its JSON
	maxPictures      = 100
	maxPicturePixels = 16 << 20  // of one picture
	maxPixels        = 128 << 20 // of all pictures
)

// notebook holds the parts of a notebook that a page shows.
type notebook struct {
	Cells    []cell
	Metadata struct {
		LanguageInfo struct{ Name string } `json:"language_info"`
		Kernelspec   struct{ Language string }
	}
	Format int `json:"nbformat"`
}

type cell struct {
	Type    string `json:"cell_type"`
	Source  multiline
	Count   *int `json:"execution_count"`
	Outputs []output
}

type output struct {
	Type      string                     `json:"output_type"`
	Text      multiline                  // of a stream
	Data      map[string]json.RawMessage // by media type
	Name      string                     `json:"ename"` // of an error
	Value     string                     `json:"evalue"`
	Traceback []string
}

// multiline is a text. In JSON, it is a string or a list of lines.
type multiline string

// UnmarshalJSON implements json.Unmarshaler.
func (j *multiline) UnmarshalJSON(b []byte) error {
	var lines []string
	if err := json.Unmarshal(b, &lines); err == nil {
		*j = multiline(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(b, (*string)(j))
}

// parseNotebook parses a notebook, and counts its bytes of Markdown. It returns nil if code is not a notebook, or if it
// is too large to show.
func parseNotebook(code string) (n *notebook, prose int) {
	code = strings.TrimPrefix(code, byteOrderMark)
	if strings.Count(code, "{") > maxObjects || strings.Count(code, ",") > maxValues {
		return nil, 0
	}
	n = new(notebook)
	if json.Unmarshal([]byte(code), n) != nil || n.Format != 4 || len(n.Cells) == 0 || len(n.Cells) > maxCellsShown {
		return nil, 0
	}
	for i := range n.Cells {
		if n.Cells[i].Type == "markdown" {
			prose += len(n.Cells[i].Source)
		}
	}
	return n, prose
}

// notebookLanguage returns the name of the language of the notebook's code, or "".
func (p *pages) notebookLanguage(n *notebook) string {
	for _, name := range []string{n.Metadata.LanguageInfo.Name, n.Metadata.Kernelspec.Language, "Python"} {
		if lang, err := p.Modules.Languages.FindByName.Do(name); name != "" && err == nil {
			return lang.Name
		}
	}
	return ""
}

// notebookPart is a notebook on a page.
type notebookPart struct {
	*notebook

	pages    *pages
	part     *pastyPart
	language string
	ids      *markdown.IDs // of all Markdown cells
	pictures int           // how many more may be shown
	pixels   int           // how many more they may have
}

// notebook renders the part's code as a notebook, or returns nil if it is not one. It subtracts the size of its
// Markdown from renderedLeft, the bytes that the page may still render.
func (p *pages) notebook(part *pastyPart, renderedLeft *int) templ.Component {
	n, prose := parseNotebook(part.pasty.Code)
	if n == nil || prose > *renderedLeft {
		return nil
	}
	*renderedLeft -= prose
	return notebookView(&notebookPart{
		notebook: n, pages: p, part: part, language: p.notebookLanguage(n), ids: part.ids(),
		pictures: maxPictures, pixels: maxPixels,
	})
}

// prose renders the Markdown of a cell, or returns nil.
func (n *notebookPart) prose(c *cell) templ.Component {
	return n.pages.markdown(string(c.Source), n.ids, n.part.colour)
}

// code returns the code of a cell with its colours.
func (n *notebookPart) code(c *cell) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
		var b []byte
		text, marker := string(c.Source), marks.Of(ctx)
		for _, span := range n.part.colour(ctx, n.language, text).Spans {
			b = appendSpan(b, marker, text[:span.Length], span.Class, false)
			text = text[span.Length:]
		}
		_, err := to.Write(marker.Append(b, text, false))
		return err
	})
}

// number returns the number of the cell's last run, or a space.
func (c *cell) number() string {
	if c.Count == nil {
		return " "
	}
	return strconv.Itoa(*c.Count)
}

// terminalEscapes matches the escape sequences of terminals, which colour tracebacks.
var terminalEscapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// text returns the plain text of an output, or "".
func (o *output) text() string {
	text := o.Text
	switch {
	case o.Type == "error":
		text = multiline(strings.Join(o.Traceback, "\n"))
		if text == "" {
			text = multiline(o.Name + ": " + o.Value)
		}
	case o.Data["text/plain"] != nil:
		if json.Unmarshal(o.Data["text/plain"], &text) != nil {
			return ""
		}
	}
	return terminalEscapes.ReplaceAllString(string(text), "")
}

var errPicture = errors.New("the output has no PNG picture")

// picture returns the PNG picture of an output as a data: URL, or "". A browser needs many times the size of a file to
// decode it, so pixels are limited, too.
func (n *notebookPart) picture(o *output) string {
	data, err := o.pictureData()
	if err != nil || n.pictures == 0 {
		return ""
	}
	header, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || header.Width <= 0 || header.Height <= 0 || header.Height > maxPicturePixels/header.Width {
		return ""
	}
	pixels := header.Width * header.Height
	if pixels > n.pixels {
		return ""
	}
	n.pictures, n.pixels = n.pictures-1, n.pixels-pixels
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
}

func (o *output) pictureData() ([]byte, error) {
	var text multiline
	if o.Data["image/png"] == nil || json.Unmarshal(o.Data["image/png"], &text) != nil {
		return nil, errPicture
	}
	return base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(string(text)))
}

// pictureView writes a picture. Its address comes from picture, and needs no escaping.
func pictureView(address string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, to io.Writer) error {
		_, err := io.WriteString(to, `<img alt="Output" src="`+address+`">`)
		return err
	})
}

// notebookPolicy returns the policy for a page of pasties. It allows data: pictures if one of them is a notebook.
func notebookPolicy(policy string, pasties []paste.Pasty) string {
	for i := range pasties {
		if pasties[i].Language == jupyter {
			return strings.Replace(policy, "img-src 'self'", "img-src 'self' data:", 1)
		}
	}
	return policy
}

// preformatted is a text with marks. Unlike marks.Text, it is not isolated from the text around it.
func preformatted(text string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
		var b []byte
		for piece := range site.Pieces(text) {
			b = marks.Of(ctx).Append(b, piece, false)
		}
		_, err := to.Write(b)
		return err
	})
}
