package site

import (
	"context"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// What one page shows is bounded. A paste can hold several times as much, and has its raw form for it.
const (
	MaxShownBytes = 2 << 20 // titles and code of all pasties; a pasty is shown whole or not at all
	PieceLength   = 16 << 10
)

// WritePiece writes a piece of a long page, unless the request's time is over.
func WritePiece(ctx context.Context, to io.Writer, b []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := to.Write(b)
	return err
}

// Area writes code as it stands in an element textarea or pre, in pieces. The first line end of those is not part of their content.
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

// Pieces yields a text in pieces that do not cut a character.
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
