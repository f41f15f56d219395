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

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

// jupyter is the language of notebooks (https://nbformat.readthedocs.io, version 4).
const jupyter = "Jupyter Notebook"

// A notebook beyond these is shown as its source only.
const (
	maxCellsShown    = 1000
	maxObjects       = 20_000    // of its JSON
	maxValues        = 300_000   // likewise
	maxPictures      = 100       // the others are named
	maxPicturePixels = 16 << 20  // of one
	maxPixels        = 128 << 20 // of all
)

// notebook is what is shown of one.
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
	Source  joined
	Count   *int `json:"execution_count"`
	Outputs []output
}

type output struct {
	Type      string                     `json:"output_type"`
	Text      joined                     // of a stream
	Data      map[string]json.RawMessage // by media type
	Name      string                     `json:"ename"` // of an error
	Value     string                     `json:"evalue"`
	Traceback []string
}

// joined is a text, or a list of its lines.
type joined string

// UnmarshalJSON implements json.Unmarshaler.
func (j *joined) UnmarshalJSON(b []byte) error {
	var lines []string
	if err := json.Unmarshal(b, &lines); err == nil {
		*j = joined(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(b, (*string)(j))
}

// parseNotebook returns a notebook, and how many bytes of Markdown it has. It returns nil for what is none, or is too
// much to be shown.
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

// language returns the name of the language of the notebook's code.
func (p *pages) notebookLanguage(n *notebook) string {
	for _, name := range []string{n.Metadata.LanguageInfo.Name, n.Metadata.Kernelspec.Language, "Python"} {
		if known, err := p.Modules.Languages.FindByName.Do(name); name != "" && err == nil {
			return known.Name
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
	pictures int // that may still be shown
	pixels   int // likewise
}

// notebook returns the part's code as a notebook, or nil if it is none. It takes what its Markdown has from the bytes
// that the page may still render.
func (p *pages) notebook(part *pastyPart, renderedLeft *int) templ.Component {
	n, prose := parseNotebook(part.pasty.Code)
	if n == nil || prose > *renderedLeft {
		return nil
	}
	*renderedLeft -= prose
	return notebookView(&notebookPart{
		notebook: n, pages: p, part: part, language: p.notebookLanguage(n), pictures: maxPictures, pixels: maxPixels,
	})
}

// prose returns the text of a cell as Markdown, or nil.
func (n *notebookPart) prose(c *cell) templ.Component {
	return n.pages.markdown(string(c.Source), n.part.prefix(), n.part.tint)
}

// code returns the code of a cell with its colours.
func (n *notebookPart) code(c *cell) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
		var b []byte
		text, marker := string(c.Source), marks.Of(ctx)
		for _, span := range n.part.tint(ctx, n.language, text).Spans {
			b = appendSpan(b, marker, text[:span.Length], span.Class, false)
			text = text[span.Length:]
		}
		_, err := to.Write(marker.Append(b, text, false))
		return err
	})
}

// number is that of the cell's last run.
func (c *cell) number() string {
	if c.Count == nil {
		return " "
	}
	return strconv.Itoa(*c.Count)
}

// escapes are those of terminals.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// text returns what an output has as text.
func (o *output) text() string {
	text := o.Text
	switch {
	case o.Type == "error":
		text = joined(strings.Join(o.Traceback, "\n"))
		if text == "" {
			text = joined(o.Name + ": " + o.Value)
		}
	case o.Data["text/plain"] != nil:
		if json.Unmarshal(o.Data["text/plain"], &text) != nil {
			return ""
		}
	}
	return escapes.ReplaceAllString(string(text), "")
}

var errPicture = errors.New("the picture is not shown")

// picture returns the PNG picture of an output as a data: URL, or "". Programs decode pictures into many times the
// length of their files, so that their pixels are bounded.
func (n *notebookPart) picture(o *output) string {
	text, err := o.pictureData()
	if err != nil || n.pictures == 0 {
		return ""
	}
	about, err := png.DecodeConfig(bytes.NewReader(text))
	if err != nil || about.Width <= 0 || about.Height <= 0 || about.Height > maxPicturePixels/about.Width {
		return ""
	}
	pixels := about.Width * about.Height
	if pixels > n.pixels {
		return ""
	}
	n.pictures, n.pixels = n.pictures-1, n.pixels-pixels
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(text)
}

func (o *output) pictureData() ([]byte, error) {
	var text joined
	if o.Data["image/png"] == nil || json.Unmarshal(o.Data["image/png"], &text) != nil {
		return nil, errPicture
	}
	return base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(string(text)))
}

// pictureOf writes a picture whose address picture has made.
func pictureOf(address string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, to io.Writer) error {
		_, err := io.WriteString(to, `<img alt="Output" src="`+address+`">`)
		return err
	})
}

// notebookPolicy returns a policy for the page of pasties, under which pictures may be in the page where one is a
// notebook.
func notebookPolicy(policy string, shown []paste.Pasty) string {
	for i := range shown {
		if shown[i].Language == jupyter {
			return strings.Replace(policy, "img-src 'self'", "img-src 'self' data:", 1)
		}
	}
	return policy
}

// marked is a text with marks, which is not isolated.
func marked(text string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
		var b []byte
		for piece := range site.Pieces(text) {
			b = marks.Of(ctx).Append(b, piece, false)
		}
		_, err := to.Write(b)
		return err
	})
}
