package site

import (
	"context"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// Limits of one page. Larger pastes can be read in raw form.
const (
	MaxShownBytes = 2 << 20 // of titles and code; a pasty is shown completely or not at all
	PieceLength   = 16 << 10
)

// WritePiece writes a piece of a long page, unless ctx has ended.
func WritePiece(ctx context.Context, to io.Writer, b []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := to.Write(b)
	return err
}

// Area writes the content of a textarea or pre element, in pieces. HTML ignores the first line end of these elements.
func Area(code string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, to io.Writer) error {
		_, err := io.WriteString(to, "\n")
		for piece := range Pieces(code) {
			if err == nil {
				err = WritePiece(ctx, to, []byte(templ.EscapeString(piece)))
			}
		}
		return err
	})
}

// Pieces yields a text in pieces, without splitting characters.
func Pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end := min(PieceLength, len(text))
			for end < len(text) && end > PieceLength-utf8.UTFMax && !utf8.RuneStart(text[end]) {
				end--
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// WritePieces writes a text in pieces.
func WritePieces(ctx context.Context, w io.Writer, text string) error {
	for piece := range Pieces(text) {
		if err := WritePiece(ctx, w, []byte(piece)); err != nil {
			return err
		}
	}
	return nil
}
