package sqlitefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// partialFile is a temporary file that gets its name once it is complete.
type partialFile struct{ path string }

// abandonedAfter is the age from which an unchanged temporary file counts as left over from a process that was killed.
const abandonedAfter = time.Hour

// newPartial creates a temporary file, and removes abandoned ones in its folder: they may contain what has been deleted
// since.
func newPartial(path string) (*partialFile, error) {
	const prefix = ".gluepot-partial-"
	entries, _ := os.ReadDir(filepath.Dir(path)) // CreateTemp reports what is wrong with the folder
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasPrefix(entry.Name(), prefix) &&
			time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
	file, err := os.CreateTemp(filepath.Dir(path), prefix+"*") // mode 0600
	if err != nil {
		return nil, err
	}
	return &partialFile{file.Name()}, file.Close()
}

// remove removes the temporary file and SQLite's files beside it.
func (p *partialFile) remove() {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(p.path + suffix)
	}
}

// publish gives the file its name. It fails with fs.ErrExist when that is taken.
func (p *partialFile) publish(path string) error {
	if err := syncFile(p.path); err != nil {
		return err
	}
	if err := os.Link(p.path, path); errors.Is(err, fs.ErrExist) {
		return err
	} else if err != nil { // a file system without links
		if _, err := os.Lstat(path); err == nil {
			return fs.ErrExist
		}
		if err := os.Rename(p.path, path); err != nil {
			return err
		}
	}
	return syncFile(filepath.Dir(path))
}

// syncFile flushes a file or a folder to the disk.
func syncFile(path string) error {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
