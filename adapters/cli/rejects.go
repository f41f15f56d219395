package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

// rejectsFile stores rejected records unchanged, one per line, so that they can be imported later. It is created with the first one.
//
// Each run creates its own file and never overwrites one (decision 0010): the name may be that of another input's rejects, of the
// input itself, or a link. Each record is written before the import goes on, so it survives a crash.
type rejectsFile struct {
	folder, name string
	source       string // the input's name, for the report
	report       io.Writer

	path   string // of the file, once there is one
	file   *os.File
	buffer *bufio.Writer
}

const (
	rejectsSuffix = ".rejects"
	// maxRejectsName keeps the name of the file, with its number and suffix, below the 255 bytes of most file systems.
	maxRejectsName = 230
	// maxRejectsFiles is how many numbers are tried.
	maxRejectsFiles = 10_000
)

// rejectsName returns the name, without the suffix, of the rejects file for an input. Rejects of a rejects file keep the first input's
// name.
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

// add implements imports.Reject.
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
	_, _ = r.buffer.Write(raw) // Flush returns the error
	_ = r.buffer.WriteByte('\n')
	return r.buffer.Flush()
}

// create makes the file, under the first free name. Its mode is 0600, as it may contain API keys.
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

// close flushes the file to the disk and closes it.
func (r *rejectsFile) close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Sync(), r.file.Close())
}
