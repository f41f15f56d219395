package site

import (
	"context"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// at returns a time for people.
func at(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// The most characters shown of a page's title, and of other names.
const (
	MaxHeading = 1024 // the longest title, except in imports
	MaxName    = 200
)

// Shortened returns a text, cut to a number of characters.
func Shortened(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// pieceLength bounds the pieces of a long line.
const pieceLength = 16 << 10

// Pieces yields the lines of a text with their line ends, and long ones in several pieces, without splitting
// characters.
func Pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end := min(pieceLength, len(text))
			if line := strings.IndexByte(text[:end], '\n'); line >= 0 {
				end = line + 1
			}
			for end < len(text) && end > pieceLength-utf8.UTFMax && !utf8.RuneStart(text[end]) {
				end--
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// Area writes the content of a textarea. HTML ignores the first line end of this element.
func Area(code string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, to io.Writer) error {
		_, err := io.WriteString(to, "\n")
		for piece := range Pieces(code) {
			if err == nil {
				_, err = io.WriteString(to, templ.EscapeString(piece))
			}
		}
		return err
	})
}
