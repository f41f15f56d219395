// Package picture draws the beginning of code as a picture, which services that preview links show.
package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"

	"github.com/gluepot/gluepot/adapters/pages/highlight"
)

// Width and Height are the size of a picture in pixels, which services that preview links recommend.
const (
	Width  = 1200
	Height = 630
)

// The layout, in pixels and characters.
const (
	margin     = 40
	bar        = 86 // the height of the title and of the facts
	baseline   = 56 // of the text in a bar
	codeSize   = 28 // of the font
	codeWidth  = 17 // of its characters
	lineHeight = 37
	maxLines   = (Height - 2*bar) / lineHeight
	maxColumns = (Width - 2*margin) / codeWidth
	tab        = 4
)

// The colours are those of the style sheet.
var (
	ground, surface = color.RGBA{0xf7, 0xf5, 0xf2, 0xff}, color.RGBA{0xff, 0xff, 0xff, 0xff}
	text, quiet     = color.RGBA{0x1d, 0x1f, 0x23, 0xff}, color.RGBA{0x59, 0x5c, 0x63, 0xff}
	accent          = color.RGBA{0x98, 0x3d, 0x0a, 0xff}
	function        = color.RGBA{0x6b, 0x3f, 0xa0, 0xff}
	variable        = color.RGBA{0x8b, 0x2f, 0x12, 0xff}
	classes         = map[byte]color.RGBA{
		'k': {0x9a, 0x1f, 0x6a, 0xff}, 't': {0x2b, 0x5c, 0x8f, 0xff}, 'f': function, 'b': function,
		's': {0x1f, 0x6b, 0x35, 0xff}, 'e': {0x8a, 0x52, 0x00, 0xff}, 'm': {0x0b, 0x5f, 0xa8, 0xff},
		'c': {0x62, 0x66, 0x6d, 0xff}, 'p': {0x7c, 0x4a, 0x03, 0xff}, 'a': variable, 'v': variable,
		'n': {0x1f, 0x6b, 0x35, 0xff}, 'd': {0x8a, 0x1c, 0x1c, 0xff}, // pages colour the background
	}
)

// Picture is what a picture shows.
type Picture struct {
	Title string
	Site  string // the name of the service
	Facts string // such as the language
	Code  string // from Excerpt
	Spans []highlight.Span
}

// maxRead is how many bytes of code Excerpt reads.
const maxRead = 64 << 10

// Excerpt returns the part of code that a picture has room for: the first lines, without empty ones before them, with
// spaces for tabs.
func Excerpt(code string) string {
	code = code[:min(len(code), maxRead)]
	blank := len(code) - len(strings.TrimLeftFunc(code, unicode.IsSpace))
	if blank == len(code) {
		return ""
	}
	code = code[strings.LastIndexByte(code[:blank], '\n')+1:]
	var b strings.Builder
	lines := 0
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimRightFunc(shortened(norm.NFC.String(line)), unicode.IsSpace))
		b.WriteByte('\n')
		if lines++; lines == maxLines {
			break
		}
	}
	return b.String()
}

// shortened returns at most maxColumns columns of a line. Tabs become spaces.
func shortened(line string) string {
	var b strings.Builder
	column := 0
	for _, r := range line {
		n := 1
		if r == '\t' {
			r, n = ' ', tab-column%tab
		}
		if column += n; column > maxColumns {
			break
		}
		for range n {
			b.WriteRune(r)
		}
	}
	return b.String()
}

var (
	mono = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(gomono.TTF) })
	bold = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(gobold.TTF) })
)

// CanShow reports whether the fonts have at least nine tenths of the characters of a text. They have the letters of
// most European languages.
func CanShow(text string) bool {
	f, err := mono()
	if err != nil {
		return false
	}
	var buffer sfnt.Buffer
	characters, missing := 0, 0
	for _, r := range text {
		if characters++; r > unicode.MaxASCII {
			if glyph, err := f.GlyphIndex(&buffer, r); err != nil || glyph == 0 {
				missing++
			}
		}
	}
	return 10*missing <= characters
}

// PNG draws a picture.
func (p Picture) PNG() ([]byte, error) {
	canvas := image.NewRGBA(image.Rect(0, 0, Width, Height))
	fill := func(from, to int, c color.RGBA) {
		draw.Draw(canvas, image.Rect(0, from, Width, to), image.NewUniform(c), image.Point{}, draw.Src)
	}
	fill(0, Height, ground)
	fill(bar, Height-bar, surface)

	title, err := newPen(canvas, bold, 34)
	if err != nil {
		return nil, err
	}
	small, err := newPen(canvas, bold, 26)
	if err != nil {
		return nil, err
	}
	code, err := newPen(canvas, mono, codeSize)
	if err != nil {
		return nil, err
	}
	const half = Width/2 - margin
	facts := small.fitting(p.Facts, half)
	title.write(margin, baseline, text, title.fitting(p.Title, 2*half))
	small.write(margin, Height-bar+baseline, accent, small.fitting(p.Site, half))
	small.write(Width-margin-small.MeasureString(facts).Ceil(), Height-bar+baseline, quiet, facts)
	p.writeCode(code)

	var b bytes.Buffer
	err = png.Encode(&b, canvas)
	return b.Bytes(), err
}

func (p Picture) writeCode(code *pen) {
	const first = bar + (Height-2*bar-maxLines*lineHeight)/2 + codeSize // baseline
	rest, x, y := p.Code, margin, first
	write := func(c color.RGBA, part string) {
		for i, line := range strings.Split(part, "\n") {
			if i > 0 {
				x, y = margin, y+lineHeight
			}
			x = code.write(x, y, c, line)
		}
	}
	for _, span := range p.Spans {
		c, ok := classes[span.Class]
		if !ok {
			c = text
		}
		length := min(int(span.Length), len(rest))
		write(c, rest[:length])
		rest = rest[length:]
	}
	write(text, rest)
}

// pen writes text on a canvas.
type pen struct{ font.Drawer }

func newPen(canvas draw.Image, load func() (*opentype.Font, error), size float64) (*pen, error) {
	f, err := load()
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	return &pen{font.Drawer{Dst: canvas, Face: face}}, err
}

// fitting returns as much of a line as fits into a width in pixels.
func (p *pen) fitting(line string, width int) string {
	if p.MeasureString(line).Ceil() <= width {
		return line
	}
	end := p.MeasureString("…")
	for i, r := range line {
		advance, _ := p.Face.GlyphAdvance(r)
		if end += advance; end.Ceil() > width {
			return line[:i] + "…"
		}
	}
	return line
}

// write writes a line from x on, with the baseline y, and returns where it ends.
func (p *pen) write(x, y int, c color.RGBA, line string) int {
	p.Src, p.Dot = image.NewUniform(c), fixed.P(x, y)
	p.DrawString(line)
	return p.Dot.X.Round()
}
