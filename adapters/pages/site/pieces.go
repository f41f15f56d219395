package site

import (
	"context"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// pieceLength bounds what a page holds of a long line beside what is written.
const pieceLength = 16 << 10

// Pieces yields the lines of a text with their line ends, and long ones in several pieces, without splitting characters.
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
