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

// maxShownLines limits how many numbered lines a page shows: a line's number and link take more bytes than most lines.
const maxShownLines = 100_000

// groupLines is the number of lines in a group. A browser lays out a group only when it scrolls into view.
const groupLines = 100

// writeCode writes code as HTML, in groups of lines, each with a linked number. The script finds lines by these links.
// anchor precedes the L in the anchors of lines: it is empty, or the number of the pasty, such as 2-. spans may be nil.
// prose is passed to marks.Marker.Append.
func writeCode(
	ctx context.Context, to io.Writer, code, anchor string, prose bool, only lineRange, spans []highlight.Span,
) error {
	if spans == nil {
		spans = []highlight.Span{{Length: uint32(len(code))}}
	}
	var b []byte
	total := lines(code)
	number, midLine, inGroup := 0, false, false
	for _, span := range spans {
		text := code[:span.Length]
		code = code[span.Length:]
		for line := range site.Pieces(text) {
			begins := !midLine
			if begins {
				number++
			}
			midLine = !strings.HasSuffix(line, "\n")
			if !only.holds(number) {
				continue
			}
			if begins {
				if only == (lineRange{}) && number%groupLines == 1 {
					b, inGroup = appendGroup(b, inGroup, total-number+1), true
				} else if !inGroup {
					b, inGroup = appendGroup(b, false, 0), true
				}
				label := strconv.Itoa(number)
				id := anchor + "L" + label
				b = append(b, `<a id="`+id+`" href="#`+id+`" tabindex="-1">`+label+`</a>`...)
			}
			line, ends := strings.CutSuffix(line, "\n")
			b = appendSpan(b, marks.Of(ctx), line, span.Class, prose)
			if ends {
				b = append(b, '\n')
			}
			if len(b) >= writeSize {
				if _, err := to.Write(b); err != nil {
					return err
				}
				b = b[:0]
			}
		}
	}
	if inGroup {
		b = append(b, "</span>"...)
	}
	_, err := to.Write(b)
	return err
}

// writeSize is roughly the number of bytes in one write of code.
const writeSize = 4 << 10

// appendGroup begins a group of lines, and ends the previous one if there is one. All full groups have the same height.
func appendGroup(b []byte, inGroup bool, linesLeft int) []byte {
	if inGroup {
		b = append(b, "</span>"...)
	}
	if linesLeft >= groupLines {
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

// lines returns the number of lines in code: 0 if it is empty. A trailing newline does not begin another line.
func lines(code string) int {
	return strings.Count(strings.TrimSuffix(code, "\n"), "\n") + min(len(code), 1)
}
