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

// maxShownLines bounds the lines of a page that have a number and a link, because these take more bytes than most
// lines.
const maxShownLines = 100_000

// groupLines is how many lines stand in a group. A browser lays out a whole group only when it comes into view.
const groupLines = 100

// writeCode writes code as HTML: a linked number before each line, and groups of lines. The script finds lines by these
// links. anchor stands before the L in the anchors of lines: it is empty, or the number of the pasty, such as 2-. spans
// may be nil. For prose, see the words of marks.Marker.Append.
func writeCode(
	ctx context.Context, to io.Writer, code, anchor string, prose bool, only lineRange, spans []highlight.Span,
) error {
	if spans == nil {
		spans = []highlight.Span{{Length: uint32(len(code))}}
	}
	var b []byte
	total := lines(code)
	number, open, grouped := 0, false, false // of the current line; it is open, and so is its group
	for _, span := range spans {
		text := code[:span.Length]
		code = code[span.Length:]
		for line := range site.Pieces(text) {
			begins := !open
			if begins {
				number++
			}
			open = !strings.HasSuffix(line, "\n")
			if !only.holds(number) {
				continue
			}
			if begins {
				if only == (lineRange{}) && number%groupLines == 1 {
					b, grouped = appendGroup(b, grouped, total-number+1), true
				} else if !grouped {
					b, grouped = appendGroup(b, false, 0), true
				}
				shown := strconv.Itoa(number)
				id := anchor + "L" + shown
				b = append(b, `<a id="`+id+`" href="#`+id+`" tabindex="-1">`+shown+`</a>`...)
			}
			line, ended := strings.CutSuffix(line, "\n")
			b = appendSpan(b, marks.Of(ctx), line, span.Class, prose)
			if ended {
				b = append(b, '\n')
			}
			if len(b) >= writtenAtOnce {
				if _, err := to.Write(b); err != nil {
					return err
				}
				b = b[:0]
			}
		}
	}
	if grouped {
		b = append(b, "</span>"...)
	}
	_, err := to.Write(b)
	return err
}

// writtenAtOnce is about how many bytes of code are written at once.
const writtenAtOnce = 4 << 10

// appendGroup begins a group of lines after another, if there is one. Full groups are equally high.
func appendGroup(b []byte, another bool, left int) []byte {
	if another {
		b = append(b, "</span>"...)
	}
	if left >= groupLines {
		return append(b, `<span class="lines full">`...)
	}
	return append(b, `<span class="lines">`...)
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
