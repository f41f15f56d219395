package httpapi

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
)

// maxHeld is how much of one answer is held in memory. A client may take as long as the write timeout to read it,
// and many may do so at once.
const maxHeld = 256 << 10

// longAnswer collects an answer that may be of any length: beyond maxHeld it is in a file that has no name, and goes
// when it is closed (decision 0020).
type longAnswer struct {
	*jsonBuffer

	countOnly bool // there is to be no body
	tagged    bool // etag will be asked for
	status    int  // 0: 200
	spilled   int64
	hash      hash.Hash // of what is spilled, if it is tagged
	file      *os.File  // nil until it is needed
}

func newLongAnswer(countOnly bool) *longAnswer {
	return &longAnswer{jsonBuffer: newJSONBuffer(), countOnly: countOnly}
}

func (l *longAnswer) length() int64 { return l.spilled + int64(l.text.Len()) }

// spill moves what was collected out of memory if it has become too much. It fails with fault.Unavailable
// when no file takes it.
func (l *longAnswer) spill() error {
	if l.text.Len() < maxHeld {
		return nil
	}
	return l.moveToFile()
}

func (l *longAnswer) moveToFile() error {
	l.spilled += int64(l.text.Len())
	if l.tagged {
		if l.hash == nil {
			l.hash = sha256.New()
		}
		l.hash.Write(l.text.Bytes())
	}
	if l.countOnly {
		l.text.Reset()
		return nil
	}
	var err error
	if l.file == nil {
		l.file, err = unnamedFile("gluepot-answer-")
	}
	if err == nil {
		_, err = l.text.WriteTo(l.file)
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
	if l.spilled == 0 {
		return etagOf(sha256.Sum256(l.text.Bytes())), nil
	}
	if err := l.moveToFile(); err != nil {
		return "", err
	}
	return etagOf([sha256.Size]byte(l.hash.Sum(nil))), nil
}

// send answers with what was collected, and holds next to nothing of it in memory while the client reads.
func (l *longAnswer) send(c *gin.Context, contentType []string) error {
	if l.spilled == 0 {
		writeHeader(c, contentType, l.length())
		l.setStatus(c)
		_, _ = c.Writer.Write(l.text.Bytes()) // a client that has gone cannot be told
		return nil
	}
	if err := l.moveToFile(); err != nil {
		return err
	}
	l.jsonBuffer.release()
	l.jsonBuffer = nil
	if !l.countOnly {
		if _, err := l.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	writeHeader(c, contentType, l.spilled)
	l.setStatus(c)
	c.Writer.WriteHeaderNow()
	if !l.countOnly {
		_, _ = io.Copy(c.Writer, l.file) // a client that has gone cannot be told; one that gets less sees the length
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
	if l.file != nil {
		_ = l.file.Close()
	}
}
