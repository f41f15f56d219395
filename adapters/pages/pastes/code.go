package pastes

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/highlight"
	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
)

// maxShownLines bounds the lines of a page that have a number and an anchor, because these take more bytes than most
// lines.
const maxShownLines = 20_000

// writeCode writes code as HTML: a span for each line, with a linked number. anchor stands before the L in the
// anchors of lines: it is empty, or the number of the pasty, such as 2-. spans may be nil. For prose, see the words
// of marks.Marker.Append.
func writeCode(ctx context.Context, to io.Writer, code, anchor string, prose bool, only lineRange, spans []highlight.Span) error {
	if spans == nil {
		spans = []highlight.Span{{Length: uint32(len(code))}}
	}
	var b []byte
	number, open := 0, false // of the current line; its span is open
	for _, span := range spans {
		text := code[:span.Length]
		code = code[span.Length:]
		for line := range site.Pieces(text) {
			b = b[:0]
			begins := !open
			if begins {
				number++
			}
			line, ended := strings.CutSuffix(line, "\n")
			open = !ended
			if !only.holds(number) {
				continue
			}
			if begins {
				shown := strconv.Itoa(number)
				id := anchor + "L" + shown
				b = append(b, `<span class="line" id="`+id+`"><a tabindex="-1" href="#`+id+`">`+shown+`</a>`...)
			}
			b = appendSpan(b, marks.Of(ctx), line, span.Class, prose)
			if ended {
				b = append(b, "\n</span>"...)
			}
			if _, err := to.Write(b); err != nil {
				return err
			}
		}
	}
	if open && only.holds(number) { // add no line end: a pasted command must not run at once
		_, err := io.WriteString(to, "</span>")
		return err
	}
	return nil
}

func appendSpan(b []byte, marker *marks.Marker, text string, class byte, prose bool) []byte {
	if text == "" || class == 0 {
		return marker.Append(b, text, prose)
	}
	b = append(append(append(b, `<span class="`...), class), `">`...)
	return append(marker.Append(b, text, prose), "</span>"...)
}

func writeUnnumbered(ctx context.Context, to io.Writer, code string, prose bool) error {
	var b []byte
	for line := range site.Pieces(code) {
		b = marks.Of(ctx).Append(b[:0], line, prose)
		if _, err := to.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// lines returns the number of lines: 0 for an empty text. A final line end begins no other line.
func lines(code string) int {
	return strings.Count(strings.TrimSuffix(code, "\n"), "\n") + min(len(code), 1)
}
