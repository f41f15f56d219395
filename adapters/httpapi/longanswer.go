package httpapi

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
)

// maxHeld is how much of one answer is held in memory. A client may take as long as the write timeout to read it,
// and many may do so at once.
const maxHeld = 256 << 10

// What is longer is held in memory, too, as long as answers hold no more than maxHeldInAll beyond their maxHeld. One that
// is longer than maxShared takes nothing of that.
const (
	maxHeldInAll = 16 << 20
	maxShared    = 4 << 20
)

// answerRoom is the memory that the answers share.
type answerRoom struct{ taken atomic.Int64 }

// take reports whether there was room for so many bytes, which are then to be given back.
func (r *answerRoom) take(bytes int64) bool {
	if r.taken.Add(bytes) <= maxHeldInAll {
		return true
	}
	r.giveBack(bytes)
	return false
}

func (r *answerRoom) giveBack(bytes int64) { r.taken.Add(-bytes) }

// part is some of an answer that is held in memory. Parts are pooled: of an answer of a megabyte nothing is left to be collected.
type part [64 << 10]byte

var parts = sync.Pool{New: func() any { return new(part) }}

// maxBuffered is how much of an answer that has no end yet is in its buffer.
const maxBuffered = maxPooledBuffer / 2

// longAnswer collects an answer that may be of any length: in a buffer, behind that in parts, and when those would become too
// many in a file that has no name, and goes when it is closed (decision 0020).
type longAnswer struct {
	*jsonBuffer

	countOnly bool // there is to be no body
	tagged    bool // etag will be asked for
	status    int  // 0: 200
	moved     int64
	hash      *xxhash.Digest // of what was moved out of the buffer, if it is tagged
	room      *answerRoom
	taken     int64   // of room
	parts     []*part // all are full but the last
	file      *os.File
}

func (a *API) newLongAnswer(countOnly bool) *longAnswer {
	return &longAnswer{jsonBuffer: newJSONBuffer(), countOnly: countOnly, room: &a.answers}
}

func (l *longAnswer) length() int64 { return l.moved + int64(l.text.Len()) }

// spill moves what was collected out of the buffer if it has become too much. It fails with fault.Unavailable
// when no file takes it.
func (l *longAnswer) spill() error {
	if l.text.Len() < maxBuffered {
		return nil
	}
	return l.move()
}

// move empties the buffer.
func (l *longAnswer) move() (err error) {
	text := l.text.Bytes()
	if l.tagged {
		if l.hash == nil {
			l.hash = xxhash.New()
		}
		_, _ = l.hash.Write(text) // cannot fail
	}
	switch {
	case l.countOnly:
	case l.file == nil && l.fits(int64(len(text))):
		l.hold(text)
	default:
		err = l.moveToFile(text)
	}
	l.moved += int64(len(text))
	l.text.Reset()
	return err
}

// fits reports whether so much more may be held in memory.
func (l *longAnswer) fits(more int64) bool {
	length := l.moved + more
	if length <= maxHeld {
		return true
	}
	wanted := length - maxHeld - l.taken
	if length > maxShared || !l.room.take(wanted) {
		return false
	}
	l.taken += wanted
	return true
}

func (l *longAnswer) hold(text []byte) {
	for used := int(l.moved); len(text) > 0; {
		if used == len(l.parts)*len(part{}) {
			l.parts = append(l.parts, parts.Get().(*part)) //nolint:forcetypeassert // the pool holds nothing else
		}
		n := copy(l.parts[len(l.parts)-1][used%len(part{}):], text)
		text = text[n:]
		used += n
	}
}

// eachPart calls do with what is held in parts, from the beginning.
func (l *longAnswer) eachPart(do func([]byte) error) error {
	left := l.moved
	for _, p := range l.parts {
		n := min(left, int64(len(p)))
		if err := do(p[:n]); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

func (l *longAnswer) releaseParts() {
	for _, p := range l.parts {
		parts.Put(p)
	}
	l.parts = nil
	l.room.giveBack(l.taken)
	l.taken = 0
}

// moveToFile moves what is held and then text.
func (l *longAnswer) moveToFile(text []byte) (err error) {
	if l.file == nil {
		l.file, err = unnamedFile("gluepot-answer-")
	}
	write := func(piece []byte) error {
		_, err := l.file.Write(piece)
		return err
	}
	if err == nil {
		err = l.eachPart(write)
		l.releaseParts()
	}
	if err == nil {
		err = write(text)
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, "The answer is long, and there is no room for it at the moment.",
			fmt.Errorf("a file for a long answer: %w", err))
	}
	return nil
}

// unnamedFile makes a file in the folder that TMPDIR names or the system's own. It is readable by nobody else, and has no
// name from the start on, so that it cannot be left behind.
func unnamedFile(prefix string) (*os.File, error) {
	file, err := os.CreateTemp("", prefix)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// etag returns that of a tagged answer when all is there.
func (l *longAnswer) etag() (string, error) {
	if l.moved == 0 {
		return etagOf(l.text.Bytes()), nil
	}
	if err := l.move(); err != nil {
		return "", err
	}
	return etagOfSum(l.hash.Sum64()), nil
}

// send answers with what was collected. While the client reads, an answer holds as much memory as maxHeld and the room that
// answers share allow.
func (l *longAnswer) send(c *gin.Context, contentType []string) error {
	if l.moved == 0 {
		writeHeader(c, contentType, l.length())
		l.setStatus(c)
		_, _ = c.Writer.Write(l.text.Bytes()) // a client that has gone cannot be told
		return nil
	}
	if err := l.move(); err != nil {
		return err
	}
	l.jsonBuffer.release()
	l.jsonBuffer = nil
	if l.file != nil {
		if _, err := l.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	writeHeader(c, contentType, l.moved)
	l.setStatus(c)
	c.Writer.WriteHeaderNow()
	// A client that has gone cannot be told. One that gets less sees the length.
	switch {
	case l.countOnly:
	case l.file != nil:
		_, _ = io.Copy(c.Writer, l.file)
	default:
		_ = l.eachPart(func(piece []byte) error {
			_, err := c.Writer.Write(piece)
			return err
		})
	}
	return nil
}

func (l *longAnswer) setStatus(c *gin.Context) {
	if l.status != 0 {
		c.Status(l.status)
	}
}

func (l *longAnswer) release() {
	if l.jsonBuffer != nil {
		l.jsonBuffer.release()
	}
	l.releaseParts()
	if l.file != nil {
		_ = l.file.Close()
	}
}
