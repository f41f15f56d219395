package pastemyst

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

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
	errArray   = errors.New("the file is one JSON array: export it without --jsonArray, or split it with jq -c '.[]'")
)

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

// readLine appends the next line to text, without the space around it. Of a line that is too long it appends the
// beginning. At the end of the file it returns io.EOF with the last line.
func readLine(r *bufio.Reader, text []byte) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(text) == 0 {
			part = bytes.TrimLeft(part, space)
		}
		if len(text)+len(part) > maxDocument {
			tooLong, part = true, part[:maxDocument-len(text)]
		}
		// reserve all at once: growing would hold the old text and the new one
		if len(text)+len(part) > max(cap(text), 1<<20) {
			text = append(make([]byte, 0, maxDocument), text...)
		}
		text = append(text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(text, space), tooLong, err
		}
	}
}
