package connection

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
)

var errInUse = fault.New(fault.Unavailable,
	"The database is in use all the time: others write to it, or read it for long. Try again later.")

// purgeIndex removes deleted text from the search index, where its trigrams would stay until the index merges.
const purgeIndex = `INSERT INTO paste_texts_by_trigram (paste_texts_by_trigram) VALUES ('optimize')`

// purge is the state of an index's purge, which runs in steps between other writes.
type purge struct {
	running atomic.Bool
	deleted int64 // search_remains.deleted when it began; only the one connection that writes uses it
}

// purgePages is how much one step writes: other writers wait some 20 ms.
const purgePages = 500

// PurgeStep begins or continues to remove deleted text from the search index. FTS5's secure-delete would take 50 ms for each
// paste; this writes the index anew, and is done when a step finds nothing to merge (www.sqlite.org/fts5.html, 6.8).
func (s *Store) PurgeStep() error {
	return s.writer.Connection(func(tx *gorm.DB) error {
		pages := purgePages
		if !s.purge.running.Load() {
			var deleted, purged int64
			if err := tx.Raw("SELECT deleted, purged FROM search_remains").Row().Scan(&deleted, &purged); err != nil || deleted == purged {
				return err
			}
			s.purge.deleted, pages = deleted, -purgePages // all parts of the index
			s.purge.running.Store(true)
		}
		before, err := totalChanges(tx)
		if err != nil {
			return err
		}
		err = tx.Exec("INSERT INTO paste_texts_by_trigram (paste_texts_by_trigram, rank) VALUES ('merge', ?)", pages).Error
		if err != nil {
			return err
		}
		if after, err := totalChanges(tx); err != nil || after-before > 1 {
			return err
		}
		s.purge.running.Store(false)
		return tx.Exec("UPDATE search_remains SET purged = ?", s.purge.deleted).Error
	})
}

func totalChanges(tx *gorm.DB) (changes int64, err error) {
	err = tx.Raw("SELECT total_changes()").Row().Scan(&changes)
	return changes, err
}

// Compacted has the size of a database file, in bytes, before and after Compact.
type Compacted struct{ Before, After int64 }

// Compact shrinks an SQLite file to its content. A running server's writes wait meanwhile. It needs as much free disk space as the
// file has. It fails with fault.Unavailable when the database is too busy or the disk full, and with fault.Invalid on PostgreSQL.
func (s *Store) Compact(ctx context.Context) (done Compacted, err error) {
	file, err := s.usableFile(ctx)
	if err != nil {
		return done, err
	}
	if done.Before, err = fileSize(file); err != nil {
		return done, err
	}
	db, err := plainSQLite(file, "rw", s.cfg.ConnectTimeout)
	if err != nil {
		return done, err
	}
	defer db.Close() //nolint:errcheck // the data is already on the disk
	for _, statement := range []string{purgeIndex, "VACUUM"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return done, Translate(err)
		}
	}
	// The checkpoint moves the log into the file and truncates it. It waits for readers of the old version.
	var busy, frames, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return done, Translate(err)
	}
	if busy != 0 {
		return done, errInUse
	}
	done.After, err = fileSize(file)
	return done, err
}

// fileSize returns the size of a database and its log in bytes.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, fault.Wrap(fault.Unavailable, fmt.Sprintf("Cannot read %s.", path), err)
	}
	return info.Size() + logSize(path, "-wal"), nil
}
