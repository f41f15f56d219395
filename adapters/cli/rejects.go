package cli

import (
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

// rejectsFile stores rejected records unchanged, one on each line, so that they can be imported later. The first record
// creates it.
//
// Each run creates a file of its own and never overwrites one: the name may be that of another input's rejects, of the
// input itself, or a link. Each record is written before the import goes on, so that it survives a crash.
type rejectsFile struct {
	folder, name string    // without a number and the suffix
	source       string    // the input's name, for the report
	report       io.Writer // where to say what is wrong with a record

	path string // of the file, once it exists
	file *os.File
}

const rejectsSuffix = ".rejects"

// rejectsName returns the name, without the suffix, of the rejects file for an input. Rejects of a rejects file keep
// the first input's name.
func rejectsName(kind, file string) string {
	name := filepath.Base(file)
	if file == "-" {
		name = "stdin"
	}
	if first, ok := strings.CutSuffix(name, rejectsSuffix); ok {
		name = strings.TrimPrefix(first, kind+"-")
	}
	return kind + "-" + name
}

// add implements imports.Reject.
func (r *rejectsFile) add(line int, raw []byte, reason error) error {
	err := r.create()
	if err == nil {
		// Keep the record on one line: in JSON, line breaks are only white space.
		raw = bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r"), []byte(" ")), []byte("\n"), []byte(" "))
		_, err = r.file.Write(append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the rejected records: %w", err)
	}
	_, _ = fmt.Fprintf(r.report, "%s:%d: %s\n", r.source, line, fault.MessageOf(reason))
	return nil
}

// create creates the file under the first free name, unless it exists. Its mode is 0600, as it may contain API keys.
func (r *rejectsFile) create() error {
	name := r.name
	for n := 2; r.file == nil; n++ {
		path := filepath.Join(r.folder, name+rejectsSuffix)
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the operator's folder
		if err == nil {
			r.path, r.file = path, file
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
		name = fmt.Sprintf("%s.%d", r.name, n)
	}
	return nil
}

// close flushes the file to the disk and closes it.
func (r *rejectsFile) close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Sync(), r.file.Close())
}
