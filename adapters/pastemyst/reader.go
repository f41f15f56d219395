package pastemyst

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/gluepot/gluepot/domain/fault"
)

// maxDocument is the longest document that is read, in bytes. MongoDB's own limit is 16 MiB of BSON,
// to which escapes add. A longer one is rejected, and only its beginning kept.
const maxDocument = 24 << 20

// document is the text of one document and the line it begins in, counted from 1.
type document struct {
	text    []byte
	line    int
	tooLong bool // text is the beginning only
}

var errTooLong = fault.New(fault.Invalid, "The record is longer than 24 MiB.")

// open returns a reader of the plain text of r, which may be compressed by gzip (RFC 1952).
func open(r io.Reader) (*bufio.Reader, error) {
	buffered := bufio.NewReaderSize(r, 256<<10)
	magic, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	plain, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("read the gzip header: %w", err)
	}
	return bufio.NewReaderSize(plain, 256<<10), nil
}

// lines yields the documents of a file that has one on each line. Blank lines are passed over. The text
// is valid until the next document only.
func lines(r *bufio.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		var text []byte
		for line := 1; ; line++ {
			text = text[:0]
			tooLong := false
			var err error
			for {
				var part []byte
				part, err = r.ReadSlice('\n')
				if len(text)+len(part) <= maxDocument {
					text = append(text, part...)
				} else {
					tooLong = true
				}
				if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(document{}, err)
				return
			}
			if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 {
				if !yield(document{text: trimmed, line: line, tooLong: tooLong}, nil) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// elements yields the documents of a file that is one JSON array. It goes by brackets and quotes only, so
// that a broken document ends where the next begins. The text is valid until the next document only.
func elements(r *bufio.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		s := splitter{line: 1}
		for {
			c, err := r.ReadByte()
			if err != nil && !errors.Is(err, io.EOF) {
				yield(document{}, err)
				return
			}
			if err != nil {
				s.end()
			} else {
				s.add(c)
			}
			if s.complete {
				if text := bytes.TrimSpace(s.text); len(text) > 0 && !yield(document{text: text, line: s.start, tooLong: s.tooLong}, nil) {
					return
				}
				s.reset()
			}
			if err != nil {
				return
			}
		}
	}
}

// splitter cuts an array into its elements, byte by byte.
type splitter struct {
	open     []byte // the brackets that are open, the array's own first
	inString bool
	escaped  bool
	began    bool // the array's bracket was seen
	line     int

	text     []byte // the element so far
	start    int    // the line it begins in
	tooLong  bool
	complete bool
}

func (s *splitter) reset() { s.text, s.start, s.tooLong, s.complete = s.text[:0], 0, false, false }

func (s *splitter) end() { s.complete = true }

func (s *splitter) add(c byte) {
	if c == '\n' {
		s.line++
	}
	if s.inString {
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.inString = false
		}
		s.keep(c)
		return
	}
	switch c {
	case '"':
		s.inString = true
	case '[', '{':
		s.open = append(s.open, c)
		if c == '[' && !s.began {
			s.began = true
			return
		}
	case ']', '}':
		s.close(c)
		if len(s.open) == 0 {
			s.complete = true
			return
		}
	case ',':
		if len(s.open) == 1 {
			s.complete = true
			return
		}
	}
	s.keep(c)
}

// close closes the innermost bracket of c's kind and whatever a broken document left open in it. The
// array's own bracket closes only when nothing else is open.
func (s *splitter) close(c byte) {
	opening := byte('[')
	if c == '}' {
		opening = '{'
	}
	for i, bracket := range slices.Backward(s.open) {
		if bracket == opening && (i > 0 || len(s.open) == 1) {
			s.open = s.open[:i]
			return
		}
	}
}

func (s *splitter) keep(c byte) {
	if len(s.text) == 0 {
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			return
		}
		s.start = s.line
	}
	if len(s.text) >= maxDocument {
		s.tooLong = true
		return
	}
	s.text = append(s.text, c)
}
