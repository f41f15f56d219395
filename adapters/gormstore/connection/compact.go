package connection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gluepot/gluepot/domain/fault"
)

var (
	errVacuum = fault.New(fault.Invalid,
		"The database is PostgreSQL, which uses free room again by itself: to shrink its files, run VACUUM FULL or pg_repack.")
	errInUse = fault.New(fault.Unavailable,
		"The database is in use all the time: others write to it, or read it for long. Try again later.")
)

// purgeIndex takes what was deleted out of the index of searches, where its trigrams otherwise stay until the index merges its parts.
const purgeIndex = `INSERT INTO paste_texts_by_trigram (paste_texts_by_trigram) VALUES ('optimize')`

// Compacted says how many bytes the file of a database had before and after it was compacted.
type Compacted struct{ Before, After int64 }

// Compact gives the room in an SQLite file that nothing takes back to the disk, beside a running server, whose writes wait meanwhile. It
// needs as much room on the disk as the file has. It fails with fault.Unavailable when others leave it no time or the disk no room, and
// with fault.Invalid on PostgreSQL.
func (s *Store) Compact(ctx context.Context) (done Compacted, err error) {
	if s.file == nil {
		return done, errVacuum
	}
	if err := s.Connect(ctx); err != nil {
		return done, err
	}
	if err := s.Ready(ctx); err != nil {
		return done, err
	}
	if done.Before, err = fileSize(s.file.path); err != nil {
		return done, err
	}
	db, err := plainSQLite(s.file.path, "rw", s.cfg.ConnectTimeout)
	if err != nil {
		return done, err
	}
	defer db.Close() //nolint:errcheck // what was written is on the disk
	for _, statement := range []string{purgeIndex, "VACUUM"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return done, Translate(err)
		}
	}
	// What the log holds gets into the file, which is cut then. That waits for readers of the old version.
	var busy, frames, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return done, Translate(err)
	}
	if busy != 0 {
		return done, errInUse
	}
	done.After, err = fileSize(s.file.path)
	return done, err
}

// fileSize returns how many bytes a database and its log have.
func fileSize(path string) (size int64, err error) {
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != path:
		case err != nil:
			return 0, fault.Wrap(fault.Unavailable, fmt.Sprintf("Cannot read %s.", name), err)
		default:
			size += info.Size()
		}
	}
	return size, nil
}
