package pastemyst

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

const (
	// maxDocument is the longest document that is read, in bytes. MongoDB's own limit is 16 MiB of BSON,
	// to which escapes add. A longer one is rejected, and only its beginning kept.
	maxDocument = 24 << 20
	// maxDepth is how many brackets may be open in a document: as many as encoding/json accepts, MongoDB has 100.
	maxDepth = 10_000
	// chunkSize is how much is read at once.
	chunkSize = 256 << 10
)

// document is the text of one document and the line it begins in, counted from 1.
type document struct {
	text    []byte
	line    int
	tooLong bool // text is the beginning only
}

var errTooLong = fault.New(fault.Invalid, "The record is longer than 24 MiB.")

// open returns a reader of the plain text of r, which may be compressed by gzip (RFC 1952).
func open(r io.Reader) (*bufio.Reader, error) {
	buffered := bufio.NewReaderSize(r, chunkSize)
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
	return bufio.NewReaderSize(plain, chunkSize), nil
}

// lines yields the documents of a file that has one on each line. Blank lines are passed over. The text
// is valid until the next document only.
func lines(r *bufio.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		var text buffer
		for line := 1; ; line++ {
			text.reset()
			var err error
			for {
				var part []byte
				part, err = r.ReadSlice('\n')
				text.add(part)
				if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(document{}, err)
				return
			}
			if !text.empty() && !yield(text.document(line), nil) || err != nil {
				return
			}
		}
	}
}

// elements yields the documents of a file that is one JSON array, or several. It goes by brackets and quotes
// only, so that a broken document ends where the next begins. The text is valid until the next document only.
func elements(r *bufio.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		s := splitter{line: 1}
		for {
			_, err := r.Peek(1) // fills the buffer
			if err != nil && !errors.Is(err, io.EOF) {
				yield(document{}, err)
				return
			}
			ended := err != nil
			if !ended {
				chunk, _ := r.Peek(r.Buffered()) // they are there
				var n int
				n, ended = s.split(chunk)
				_, _ = r.Discard(n) // likewise
			}
			if ended {
				if !s.text.empty() && !yield(s.text.document(s.start), nil) {
					return
				}
				s.text.reset()
			}
			if err != nil {
				return
			}
		}
	}
}

// space is what JSON takes for white space.
const space = " \t\r\n"

// buffer collects the text of one document after another, without the space before it.
type buffer struct {
	text    []byte
	tooLong bool
}

// firstGrowth is up to where a buffer grows little by little. From there it takes all that it may ever
// need, at once: a copy into the next larger one would have both in memory.
const firstGrowth = 1 << 20

func (b *buffer) reset() { b.text, b.tooLong = b.text[:0], false }

func (b *buffer) empty() bool { return len(b.text) == 0 }

func (b *buffer) add(part []byte) {
	if b.empty() {
		part = bytes.TrimLeft(part, space)
	}
	if len(b.text)+len(part) > maxDocument {
		b.tooLong = true
		part = part[:maxDocument-len(b.text)]
	}
	if needed := len(b.text) + len(part); needed > firstGrowth && needed > cap(b.text) {
		b.text = append(make([]byte, 0, maxDocument), b.text...)
	}
	b.text = append(b.text, part...)
}

func (b *buffer) document(line int) document {
	return document{text: bytes.TrimRight(b.text, space), line: line, tooLong: b.tooLong}
}

// splitter cuts arrays into their elements. Time is linear in the text and memory bounded, whatever the
// brackets are like.
type splitter struct {
	inArray  bool
	inString bool
	escaped  bool
	open     []byte // the brackets that are open in the element, the outermost first, up to maxDepth
	kinds    counts // how many of each kind are in open
	beyond   counts // how many of each kind are open further in; there, order is not known
	line     int
	closed   int // how many brackets were closed so far: the only work that is not one step for each byte

	text  buffer // the element so far
	start int    // the line it begins in
}

// counts of [ and {.
type counts [2]int

// split reads up to the end of an element, and says how much that was and whether the element has ended.
func (s *splitter) split(chunk []byte) (n int, ended bool) {
	from := 0 // where the part of the element begins that is in chunk
	for i, c := range chunk {
		if s.text.empty() && from == i {
			if strings.IndexByte(space, c) >= 0 {
				from++
			} else {
				s.start = s.line
			}
		}
		if c == '\n' {
			s.line++
		}
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped, s.inString = c == '\\', c != '"'
		case c == '"':
			s.inString = true
		case c == '[' && !s.inArray && s.text.empty() && from == i:
			s.inArray = true
			from++
		case c == '[' || c == '{':
			s.push(c)
		case c == ']' && len(s.open) == 0 && s.inArray:
			s.inArray = false
			s.text.add(chunk[from:i])
			return i + 1, true
		case c == ']' || c == '}':
			s.close(c)
			if len(s.open) == 0 && !s.inArray {
				s.text.add(chunk[from : i+1])
				return i + 1, true
			}
		case c == ',' && len(s.open) == 0:
			s.text.add(chunk[from:i])
			return i + 1, true
		}
	}
	s.text.add(chunk[from:])
	return len(chunk), false
}

func kindOf(bracket byte) int {
	if bracket == '[' || bracket == ']' {
		return 0
	}
	return 1
}

func (s *splitter) push(c byte) {
	kind := kindOf(c)
	if len(s.open) == maxDepth {
		s.beyond[kind]++
		return
	}
	s.open = append(s.open, byte(kind))
	s.kinds[kind]++
}

// close closes the innermost open bracket of c's kind and whatever a broken document left open in it.
func (s *splitter) close(c byte) {
	kind := kindOf(c)
	if s.beyond[kind] > 0 {
		s.beyond[kind]--
		return
	}
	if s.kinds[kind] == 0 {
		return
	}
	s.beyond = counts{}
	for {
		s.closed++
		last := int(s.open[len(s.open)-1])
		s.open = s.open[:len(s.open)-1]
		s.kinds[last]--
		if last == kind {
			return
		}
	}
}
