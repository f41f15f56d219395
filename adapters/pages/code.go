package pages

import (
	"context"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// What one page shows is bounded: a paste can hold several times as much, and has its raw form for it.
const (
	maxShownBytes = 2 << 20 // code, of all pasties together; a pasty is shown whole or not at all
	maxShownLines = 20_000  // lines with a number and an anchor; each takes more than most lines
	maxMarks      = 10_000
	pieceLength   = 16 << 10 // how much of a code is written at once, in bytes
)

// codeWriter writes code as HTML: a span for each line, with a number that is a link to it.
type codeWriter struct {
	marker

	b       []byte
	before  string // what stands before the L in an anchor: empty, or that of a pasty, 2-
	line    int    // the number of the line that is open; lines are counted from 1
	open    bool
	flushed func([]byte) error // takes what was written; nil: it stays in b
}

// token appends a piece of code that is shown in that class; "" has none.
func (w *codeWriter) token(class, text string) error {
	for text != "" {
		if !w.open {
			w.begin()
		}
		line, rest, ended := strings.Cut(text, "\n")
		if line != "" {
			w.piece(class, line)
		}
		if ended {
			w.b = append(w.b, "\n</span>"...)
			w.open = false
		}
		text = rest
		if err := w.flush(); err != nil {
			return err
		}
	}
	return nil
}

// piece appends a part of a line.
func (w *codeWriter) piece(class, text string) {
	if class == "" {
		w.b = w.append(w.b, text)
		return
	}
	w.b = append(append(append(w.b, `<span class="`...), class...), `">`...)
	w.b = append(w.append(w.b, text), "</span>"...)
}

func (w *codeWriter) begin() {
	w.open = true
	w.line++
	number := strconv.Itoa(w.line)
	w.b = append(append(append(append(w.b, `<span class="line" id="`...), w.before...), 'L'), number...)
	w.b = append(append(append(append(w.b, `"><a tabindex="-1" href="#`...), w.before...), 'L'), number...)
	w.b = append(append(append(w.b, `">`...), number...), "</a>"...)
}

// end closes the last line, which has no line end: who copies a command from it does not have it run where it is put.
func (w *codeWriter) end() error {
	if w.open {
		w.b = append(w.b, "</span>"...)
		w.open = false
	}
	return w.flush()
}

func (w *codeWriter) flush() error {
	if w.flushed == nil || len(w.b) < pieceLength && w.open {
		return nil
	}
	err := w.flushed(w.b)
	w.b = w.b[:0]
	return err
}

// writePlain writes code that is not highlighted, in pieces.
func writePlain(to io.Writer, code, before string, m *marker) error {
	w := codeWriter{marker: *m, before: before, flushed: func(b []byte) error {
		_, err := to.Write(b)
		return err
	}}
	defer func() { *m = w.marker }()
	for piece := range pieces(code) {
		if err := w.token("", piece); err != nil {
			return err
		}
	}
	return w.end()
}

// writeUnnumbered writes code with too many lines to number.
func writeUnnumbered(to io.Writer, code string, m *marker) error {
	var b []byte
	for piece := range pieces(code) {
		b = m.append(b[:0], piece)
		if _, err := to.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// area writes code as it stands in an element textarea or pre, in pieces. The first line end of those is none of their content.
func area(code string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, to io.Writer) error {
		_, err := io.WriteString(to, "\n")
		for piece := range pieces(code) {
			if err == nil {
				_, err = io.WriteString(to, templ.EscapeString(piece))
			}
		}
		return err
	})
}

// lines returns how many lines a code has. What ends with a line end has no empty line after it.
func lines(code string) int {
	n := strings.Count(code, "\n")
	if code != "" && !strings.HasSuffix(code, "\n") {
		n++
	}
	return n
}

// pieces yields a text in pieces that do not part a character.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end := min(pieceLength, len(text))
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
