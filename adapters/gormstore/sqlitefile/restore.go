package sqlitefile

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/gluepot/gluepot/domain/fault"
)

var errOpen = fault.New(fault.Unavailable, "The database is open in another process. Stop the server, then try again.")

// Replacement says what Restore does with an existing database.
type Replacement struct {
	Replace     bool // replace it by the backup
	WithDeleted bool // bring back what has been deleted, removed or revoked in it since the backup
}

// RestoreResult is what Restore did.
type RestoreResult struct {
	Previous        string   // the new path of the database that was replaced, or ""
	Undone          []Undone // what the backup had, and was deleted, removed or revoked again
	Version, Latest int64    // of the backup's schema, and the newest that this program knows
}

// Target is the file that Restore creates, and what package db knows about its tables.
type Target struct {
	Path     string
	Patience time.Duration // how long to wait for a lock
	// CheckForeign fails with fault.Conflict for the database of another program.
	CheckForeign func(ctx context.Context, path string) error
	// Versions reads the versions of a backup that was copied from a file. It fails with fault.Invalid unless this program
	// can use it.
	Versions func(ctx context.Context, db *sql.DB, from string) (version, latest int64, err error)
}

// Restore checks the integrity of a backup and copies it to the target. It replaces an existing database only if
// replacement allows it. Then the previous database, with its log, stays beside the new one under a name with the time,
// and the new one gets its owner and mode. If there is no database, root gives the new one the owner of its folder.
//
// It fails with fault.Invalid when the backup is damaged, too new or not a database of Gluepot; with fault.Conflict
// when a database exists and may not be replaced; and with fault.Unavailable when that database is in use, belongs to
// another user, or cannot be read, so that nobody knows what was deleted in it.
func Restore(ctx context.Context, target Target, from string, replacement Replacement) (done RestoreResult, err error) {
	replacing, err := target.check(ctx, from, replacement.Replace)
	if err != nil {
		return done, err
	}
	path := target.Path
	partial, err := newPartial(path)
	if err != nil {
		return done, fileFault(path, err)
	}
	defer partial.remove()
	if err := copyFile(ctx, partial.path, from); err != nil {
		return done, fileFault(path, err)
	}
	if done.Version, done.Latest, err = target.examine(ctx, partial.path, from); err != nil {
		return RestoreResult{}, err
	}
	if !replacing {
		if err := takeOwnerOfFolder(partial.path); err != nil {
			return RestoreResult{}, err
		}
		return done, fileFault(path, partial.publish(path))
	}
	done.Previous = path + "." + time.Now().UTC().Format("20060102T150405.000Z")
	done.Undone, err = target.replace(ctx, done.Previous, partial, replacement.WithDeleted)
	return done, err
}

// check reports whether the backup would replace a database. It resolves links in the path.
func (t *Target) check(ctx context.Context, from string, replace bool) (bool, error) {
	backup, err := os.Stat(from)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok { // Stat returns no other error
		return false, fault.Wrap(fault.Invalid, fmt.Sprintf("Cannot read %s: %v.", from, pathErr.Err), err)
	}
	if !backup.Mode().IsRegular() {
		return false, fault.New(fault.Invalid, fmt.Sprintf("%s is not a file.", from))
	}
	for _, suffix := range logSuffixes {
		if LogSize(from, suffix) > 0 {
			return false, fault.New(fault.Invalid, fmt.Sprintf(
				"%s has a log (%s) beside it, so it is a database in use, not a backup. Make a backup with 'gluepot backup'.",
				from, suffix))
		}
	}
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		return false, fileFault(t.Path, err)
	}
	if real, err := filepath.EvalSymlinks(t.Path); err == nil {
		t.Path = real
	}
	existing, err := os.Stat(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, checkNoLog(t.Path)
	case err != nil:
		return false, fileFault(t.Path, err)
	case os.SameFile(existing, backup):
		return false, fault.New(fault.Invalid, fmt.Sprintf("%s is the database itself.", from))
	case !replace:
		return false, fault.New(fault.Conflict, fmt.Sprintf(
			"There is already a database at %s. Add --replace to put the backup in its place and keep the old one beside it.",
			t.Path))
	}
	if err := t.CheckForeign(ctx, t.Path); fault.Is(err, fault.Conflict) { // a damaged file can be replaced
		return false, err
	}
	return true, nil
}

func copyFile(ctx context.Context, to, from string) error {
	source, err := os.Open(from) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	defer source.Close()                                          //nolint:errcheck // it was only read
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // newPartial has made it
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = source.Close() })() // ends the copy
	_, err = io.Copy(target, source)
	return errors.Join(context.Cause(ctx), err, target.Close())
}

// examine checks that the copy of a backup is undamaged, Gluepot's, and of a version that this program knows.
func (t *Target) examine(ctx context.Context, path, from string) (version, latest int64, err error) {
	db, err := Open(path, "rw", time.Second)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var state string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&state); err != nil || state != "ok" {
		cause := cmp.Or(context.Cause(ctx), err, errors.New(state))
		return 0, 0, fault.Wrap(fault.Invalid, from+" is damaged, or not a database.", cause)
	}
	if version, latest, err = t.Versions(ctx, db, from); err != nil {
		return 0, 0, err
	}
	var broken int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&broken); err != nil {
		return 0, 0, err
	}
	if broken > 0 {
		return 0, 0, fault.New(fault.Invalid, fmt.Sprintf("%s is damaged: %d rows refer to missing rows.", from, broken))
	}
	return version, latest, nil
}

// replace replaces a database, and gives the old one another name. At every instant the path names one of the two. A
// process that opens the old database during that waits for the lock, and then notices (see Watcher).
func (t *Target) replace(
	ctx context.Context, previous string, partial *partialFile, withDeleted bool,
) (undone []Undone, err error) {
	path := t.Path
	if err := copyOwner(partial.path, path); err != nil {
		return nil, err
	}
	if !withDeleted && !beginsAsSQLite(path) { // SQLite would remove its log
		return nil, notCompared(path, errors.New("it is not an SQLite database"))
	}
	db, err := Open(path, "rw", t.Patience)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // this releases the lock
	if !withDeleted {
		err = attachNew(ctx, db, partial.path)
	}
	if err == nil {
		err = closeLog(ctx, db)
	}
	damage := IsDamaged(err)
	switch {
	case err != nil && !damage:
		return nil, err
	case withDeleted:
	case damage:
		return nil, notCompared(path, err)
	default:
		if undone, err = undoSinceBackup(ctx, db); err != nil {
			return nil, notCompared(path, err)
		}
		if err := forget(ctx, partial.path); err != nil { // what was deleted again
			return nil, err
		}
	}
	if err := syncFile(partial.path); err != nil {
		return nil, fileFault(path, err)
	}
	if err := os.Link(path, previous); err != nil {
		return nil, fileFault(previous, err)
	}
	if damage { // keep its log for a recovery: the new file must not use it
		if err := os.Rename(path+"-wal", previous+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fileFault(previous, err)
		}
		_ = os.Remove(path + "-shm")
	}
	if err := os.Rename(partial.path, path); err != nil {
		return nil, fileFault(path, err)
	}
	return undone, syncFile(filepath.Dir(path))
}

// beginsAsSQLite reports whether a file has the header of a database. An empty file counts as one without tables.
func beginsAsSQLite(path string) bool {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it was only read
	const magic = "SQLite format 3\x00"
	header := make([]byte, len(magic))
	_, err = io.ReadFull(file, header)
	return errors.Is(err, io.EOF) || string(header) == magic
}

// closeLog moves the log into the database and locks the file. SQLite allows this only if no other process has the file
// open.
func closeLog(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{"PRAGMA main.journal_mode = DELETE", "BEGIN EXCLUSIVE",
		"PRAGMA main.journal_mode"} {
		mode := "delete" // BEGIN returns no row
		err := db.QueryRowContext(ctx, statement).Scan(&mode)
		busy, ok := errors.AsType[*sqlite.Error](err)
		switch {
		case ok && busy.Code()&0xff == sqlite3.SQLITE_BUSY || mode != "delete":
			return errOpen
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return nil
}
