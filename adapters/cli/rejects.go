package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

// rejectsFile keeps the records that were not accepted, as they were, one on each line, so that the file can be
// imported. It exists only if there are any.
//
// Each is a file of its own, made by this run (decision 0010): nothing that was there before is written to,
// replaced or removed, be it another input's rejects, the very file that is read, or where a link points to. A
// record is in it before the import goes on, so that what is there survives whatever ends the import.
type rejectsFile struct {
	folder, name string
	source       string // for the report
	report       io.Writer

	path   string // of the file, once there is one
	file   *os.File
	buffer *bufio.Writer
}

const (
	rejectsSuffix = ".rejects"
	// maxRejectsName keeps the name of the file, with its number and suffix, below the 255 bytes of most file systems.
	maxRejectsName = 230
	// maxRejectsFiles is how many files of one name there may be.
	maxRejectsFiles = 10_000
)

// rejectsName returns the name, without the suffix, of the file for what is rejected of file. The rejects of
// a rejects file have the name that their first input had.
func rejectsName(kind, file string) string {
	name := filepath.Base(file)
	if file == "-" {
		name = "stdin"
	}
	if first, ok := strings.CutSuffix(name, rejectsSuffix); ok {
		name = strings.TrimPrefix(first, kind+"-")
	}
	name = kind + "-" + name
	return name[:min(len(name), maxRejectsName)]
}

// add is the imports.Reject of the file.
func (r *rejectsFile) add(line int, raw []byte, reason error) error {
	if err := r.write(raw); err != nil {
		return fmt.Errorf("write the rejected records: %w", err)
	}
	_, _ = fmt.Fprintf(r.report, "%s:%d: %s\n", r.source, line, fault.MessageOf(reason))
	return nil
}

func (r *rejectsFile) write(raw []byte) error {
	if r.file == nil {
		if err := r.create(); err != nil {
			return err
		}
	}
	// Line breaks stand between the parts of an array's element only; a space does there as well.
	for len(raw) > 0 {
		part := raw
		if end := bytes.IndexAny(raw, "\r\n"); end >= 0 {
			part = raw[:end]
		}
		_, _ = r.buffer.Write(part) // Flush returns what went wrong
		if raw = raw[len(part):]; len(raw) > 0 {
			_ = r.buffer.WriteByte(' ')
			raw = raw[1:]
		}
	}
	_ = r.buffer.WriteByte('\n')
	return r.buffer.Flush()
}

// create makes the file, with the first name that is free. API keys may be in it.
func (r *rejectsFile) create() error {
	for n := 1; n <= maxRejectsFiles; n++ {
		name := r.name + rejectsSuffix
		if n > 1 {
			name = fmt.Sprintf("%s.%d%s", r.name, n, rejectsSuffix)
		}
		path := filepath.Join(r.folder, name)
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the operator names the folder
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		r.path, r.file, r.buffer = path, file, bufio.NewWriter(file)
		return nil
	}
	return fmt.Errorf("there are %d files such as %s already", maxRejectsFiles, filepath.Join(r.folder, r.name+rejectsSuffix))
}

// close ends the file. Afterwards it is on the disk.
func (r *rejectsFile) close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Sync(), r.file.Close())
}
