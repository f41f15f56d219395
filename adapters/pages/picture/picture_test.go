package picture

import (
	"bytes"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/highlight"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("é", maxColumns)
	for name, test := range map[string]struct{ code, want string }{
		"empty":               {"", ""},
		"only space":          {" \n\t\r\n", ""},
		"empty lines first":   {"\n\r\n  a\n\nb", "  a\n\nb\n"},
		"line ends":           {"a\r\nb\rc\r\n", "a\nb\rc\n"},
		"tabs":                {"a\tb\n\tc", "a   b\n    c\n"},
		"a decomposed letter": {"cafe\u0301", "café\n"},
		"blank and long":      {strings.Repeat(" \n", maxRead), ""},
		"a long line":         {wide + "end", wide + "\n"},
		"a tab at the end":    {wide[:len(wide)-2] + "\tx", wide[:len(wide)-2] + "\n"},
		"many lines":          {strings.Repeat("x\n", 1000), strings.Repeat("x\n", maxLines)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Excerpt(test.code); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCanShow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":             true,
		"package main": true,
		"naïve façade, Ελληνικά, Кириллица": true,
		"a line of Latin letters with a 字":  true,
		"print('你好，世界')":                    false,
		"日本語":                               false,
	} {
		if got := CanShow(text); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

// TestPNG checks that colours are drawn where the code is, and nothing outside of the picture.
func TestPNG(t *testing.T) {
	t.Parallel()
	code := Excerpt("func main() {}\n" + strings.Repeat(strings.Repeat("x", 1000)+"\n", 1000))
	long := strings.Repeat("W", 200)
	for name, p := range map[string]Picture{
		"as highlighted": {Title: "main.go", Site: "Gluepot", Facts: "Go", Code: code,
			Spans: []highlight.Span{{Length: 4, Class: 'k'}, {Length: uint32(len(code) - 4)}}},
		"long texts": {Title: long, Site: long, Facts: long, Code: code,
			Spans: []highlight.Span{{Length: 4, Class: 'k'}}},
		"more spans than code": {Code: code,
			Spans: []highlight.Span{{Length: 4, Class: 'k'}, {Length: 1 << 30}, {Length: 7}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := p.PNG()
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(bytes.NewReader(file))
			if err != nil || picture.Bounds().Dx() != Width || picture.Bounds().Dy() != Height {
				t.Fatalf("got a picture of %v, error %v, want %dx%d", picture.Bounds(), err, Width, Height)
			}
			keyword := 0
			for x := range Width {
				for y := range Height {
					c := color.RGBAModel.Convert(picture.At(x, y))
					inMargin := x < margin || x >= Width-margin
					if inMargin && c != ground && c != surface {
						t.Fatalf("got text at %d, %d, want none in the margin", x, y)
					}
					if c == classes['k'] {
						keyword++
					}
				}
			}
			if keyword < 50 {
				t.Errorf("got %d pixels in the colour of a keyword, want those of func", keyword)
			}
		})
	}
}
