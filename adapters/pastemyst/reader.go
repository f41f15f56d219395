package pastemyst

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gluepot/gluepot/domain/fault"
)

const (
	// maxDocument is the longest document that is read, in bytes. MongoDB's own limit is 16 MiB of BSON,
	// to which escapes add. Of a longer line only the beginning is kept.
	maxDocument = 24 << 20
	chunkSize   = 256 << 10 // how much is read at once
	space       = " \t\r\n" // what JSON takes for white space
)

var (
	errTooLong = fault.New(fault.Invalid, "The record is longer than 24 MiB.")
	errNoArray = errors.New("the file does not begin with [: leave --json-array out where each line has a document")
	errAfter   = errors.New("there is something after the end of the array")
	errEnded   = errors.New("the file ends inside an array: the rest of it is missing")
)

// document is the text of one document, which is valid until the next one only, and the line it begins in, counted from 1.
type document struct {
	text []byte
	line int
	err  error // why it is refused
}

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

// lines yields the documents of a file that has one on each line, so that a broken one ends with its line. Blank lines are passed over.
func lines(r *bufio.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		var text []byte
		for line := 1; ; line++ {
			found := document{line: line}
			text = text[:0]
			part, err := r.ReadSlice('\n')
			for ; ; part, err = r.ReadSlice('\n') {
				if len(text) == 0 {
					part = bytes.TrimLeft(part, space)
				}
				if len(text)+len(part) > maxDocument {
					found.err, part = errTooLong, part[:maxDocument-len(text)]
				}
				if len(text)+len(part) > max(cap(text), 1<<20) { // the room for all at once: growing, both would be in memory
					text = append(make([]byte, 0, maxDocument), text...)
				}
				text = append(text, part...)
				if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(document{}, err)
				return
			}
			found.text = bytes.TrimRight(text, space)
			if len(found.text) > 0 && !yield(found, nil) || err != nil {
				return
			}
		}
	}
}

// elements yields the documents of a file that is one JSON array. Where that is not valid JSON, or an element too long, reading ends
// with an error: it is not known where the next document would begin.
func elements(r io.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		var read newlines
		bounded := &boundedReader{reader: io.TeeReader(r, &read)}
		decoder := json.NewDecoder(bounded)
		line := func() int { // where the decoder is
			var ahead newlines
			_, _ = io.Copy(&ahead, decoder.Buffered()) // never fails
			return 1 + int(read-ahead)
		}
		fail := func(err error) {
			if _, broken := errors.AsType[*json.SyntaxError](err); broken || errors.Is(err, errTooLong) {
				err = fmt.Errorf("near line %d: %w", line(), err)
			} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errEnded
			}
			yield(document{}, err)
		}
		if begin, err := decoder.Token(); begin != json.Delim('[') && (err == nil || errors.Is(err, io.EOF)) {
			fail(errNoArray)
			return
		} else if err != nil {
			fail(err)
			return
		}
		var text json.RawMessage
		for bounded.read = 0; decoder.More(); bounded.read = 0 {
			err := decoder.Decode(&text)
			if len(text) > maxDocument {
				err = errTooLong
			}
			if err != nil {
				fail(err)
				return
			}
			if !yield(document{text: text, line: line() - bytes.Count(text, []byte("\n"))}, nil) {
				return
			}
		}
		if _, err := decoder.Token(); err != nil { // the end of the array
			fail(err)
		} else if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			fail(errAfter)
		}
	}
}

// newlines counts those that are written.
type newlines int

// Write implements io.Writer.
func (n *newlines) Write(p []byte) (int, error) {
	*n += newlines(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// boundedReader fails when more is read than a document may have, and reads little at once, so that little is read ahead.
type boundedReader struct {
	reader io.Reader
	read   int // for this document
}

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.read > maxDocument {
		return 0, errTooLong
	}
	n, err := b.reader.Read(p[:min(len(p), chunkSize)])
	b.read += n
	return n, err
}
