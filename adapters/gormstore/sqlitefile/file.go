// Package sqlitefile looks after the file of an SQLite database: it creates, watches, backs up, restores and compacts
// it. What the tables mean is for package db, which uses it.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// URI returns the URI of a file for SQLite, without options.
func URI(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

// Open opens one connection to a file, without changing its journal mode.
func Open(path, mode string, patience time.Duration) (*sql.DB, error) {
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?mode=%s&_pragma=busy_timeout(%d)", URI(path), mode,
		patience.Milliseconds()))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// LogSize returns the size of a log beside a database, where SQLite writes it: beside the file that a link leads to. It
// is 0 without a log.
func LogSize(path, suffix string) int64 {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if log, err := os.Stat(path + suffix); err == nil {
		return log.Size()
	}
	return 0
}

// Create makes an empty database and its folder, readable by their owner only, unless the file exists. Root gives it
// the owner of its folder. It fails with fault.Conflict when there is a log of a file that is gone. The database is in
// WAL mode from the beginning: processes that switch it at the same time can fail.
func Create(ctx context.Context, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	log := checkNoLog(path) // before the next line: another process makes the database first
	if _, err := os.Lstat(path); err == nil {
		if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return errors.New("it is a link to a file that does not exist")
		}
		return nil
	}
	if log != nil {
		return log
	}
	partial, err := newPartial(path)
	if err != nil {
		return err
	}
	defer partial.remove()
	db, err := Open(partial.path, "rw", time.Second)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := takeOwnerOfFolder(partial.path); err != nil {
		return err
	}
	if err := partial.publish(path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// logSuffixes are the suffixes of SQLite's logs. A database takes any log beside it for its own.
var logSuffixes = []string{"-wal", "-journal"}

// checkNoLog fails with fault.Conflict if there is a log of the database that is to be made at the path.
func checkNoLog(path string) error {
	for _, suffix := range logSuffixes {
		if _, err := os.Lstat(path + suffix); err == nil {
			return fault.New(fault.Conflict, fmt.Sprintf("There is a log %s%s without its database. Move it away first.",
				path, suffix))
		}
	}
	return nil
}

// fileFault translates an error about a file. It leaves alone nil and the error of a full disk.
func fileFault(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return fault.New(fault.Conflict, fmt.Sprintf("The file %s already exists. Choose another name.", path))
	case IsFull(err):
		return err
	}
	return fault.Wrap(fault.Unavailable, fmt.Sprintf("Cannot write %s.", path), err)
}
