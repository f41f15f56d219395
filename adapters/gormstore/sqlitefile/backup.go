package sqlitefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Backup writes a snapshot of a database in use to a new file, readable by its owner only. It leaves out clients'
// quotas and addresses. The new file gets its name once it is complete and on the disk. patience is how long to wait
// for a lock.
//
// It fails with fault.Conflict when the new file exists.
func Backup(ctx context.Context, file, path string, patience time.Duration) error {
	if _, err := os.Lstat(path); err == nil {
		return fileFault(path, fs.ErrExist)
	}
	partial, err := newPartial(path)
	if err != nil {
		return fileFault(path, err)
	}
	defer partial.remove()
	source, err := Open(file, "ro", patience)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	if _, err := source.ExecContext(ctx, "VACUUM INTO ?", partial.path); err != nil {
		return err
	}
	if err := forget(ctx, partial.path); err != nil {
		return err
	}
	return fileFault(path, partial.publish(path))
}

// forget removes clients' hashes and their salt, the origins of pastes, and deleted text from the search index.
func forget(ctx context.Context, path string) error {
	db, err := Open(path, "rw", time.Second)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"PRAGMA secure_delete = ON", "PRAGMA journal_mode = MEMORY", "DELETE FROM paste_quotas",
		"UPDATE paste_quota_salt SET salt = randomblob(32)", "DELETE FROM paste_origins", purgeIndex,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	return db.Close()
}
