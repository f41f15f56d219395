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

// maxShownLines bounds the lines of a page that have a number and an anchor; each takes more than most lines.
const maxShownLines = 20_000

// codeWriter writes code as HTML: a span for each line, with a linked number.
type codeWriter struct {
	to     io.Writer
	marks  *marks.Marker
	anchor string // before the L in anchors: empty, or the number of the pasty, such as 2-
	b      []byte
	line   int  // the number of the current line, from 1
	open   bool // its span is open
	only   lineRange
}

// writeCode writes code with line numbers. Spans may be nil.
func writeCode(ctx context.Context, to io.Writer, code, anchor string, only lineRange, spans []highlight.Span) error {
	w := codeWriter{to: to, marks: marks.Of(ctx), anchor: anchor, only: only}
	if spans == nil {
		spans = []highlight.Span{{Length: uint32(len(code))}}
	}
	for _, span := range spans {
		text := code[:span.Length]
		code = code[span.Length:]
		for piece := range site.Pieces(text) {
			w.span(span.Class, piece)
			if err := w.flush(ctx, site.PieceLength); err != nil {
				return err
			}
		}
	}
	if w.open && w.only.holds(w.line) { // add no line end: a pasted command must not run at once
		w.b = append(w.b, "</span>"...)
	}
	return w.flush(ctx, 1)
}

// span appends code of one class.
func (w *codeWriter) span(class highlight.Class, text string) {
	for text != "" {
		if !w.open {
			w.begin()
		}
		line, rest, ended := strings.Cut(text, "\n")
		text = rest
		if !w.only.holds(w.line) {
			w.open = !ended
			continue
		}
		if line != "" && class != 0 {
			w.b = append(append(append(w.b, `<span class="`...), byte(class)), `">`...)
			w.b = append(w.marks.Append(w.b, line, false), "</span>"...)
		} else {
			w.b = w.marks.Append(w.b, line, false)
		}
		if ended {
			w.b = append(w.b, "\n</span>"...)
			w.open = false
		}
	}
}

func (w *codeWriter) begin() {
	w.open = true
	w.line++
	if !w.only.holds(w.line) {
		return
	}
	number := strconv.Itoa(w.line)
	w.b = append(append(append(append(w.b, `<span class="line" id="`...), w.anchor...), 'L'), number...)
	w.b = append(append(append(append(w.b, `"><a tabindex="-1" href="#`...), w.anchor...), 'L'), number...)
	w.b = append(append(append(w.b, `">`...), number...), "</a>"...)
}

// flush writes the buffer if it has at least least bytes.
func (w *codeWriter) flush(ctx context.Context, least int) error {
	if len(w.b) < least {
		return nil
	}
	err := site.WritePiece(ctx, w.to, w.b)
	w.b = w.b[:0]
	return err
}

func writeUnnumbered(ctx context.Context, to io.Writer, code string) error {
	var b []byte
	for piece := range site.Pieces(code) {
		b = marks.Of(ctx).Append(b[:0], piece, false)
		if err := site.WritePiece(ctx, to, b); err != nil {
			return err
		}
	}
	return nil
}

// lines returns the number of lines. A final line end begins no other line.
func lines(code string) int {
	n := strings.Count(code, "\n")
	if code != "" && !strings.HasSuffix(code, "\n") {
		n++
	}
	return n
}
