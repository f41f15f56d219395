package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
)

var errInUse = fault.New(fault.Unavailable,
	"The database is too busy: others keep writing to it, or read it for a long time. Try again later.")

// purgeIndex removes deleted text from the search index. Its trigrams would stay until the index merges them.
const purgeIndex = `INSERT INTO paste_texts_by_trigram (paste_texts_by_trigram) VALUES ('optimize')`

// Purge removes deleted text from the search index, in steps between other writes.
type Purge struct {
	running atomic.Bool
	deleted int64 // search_remains.deleted when it began; only the one connection that writes uses it
}

// Running reports whether there are more steps to do.
func (p *Purge) Running() bool { return p.running.Load() }

// purgePages is how many pages one step writes. Other writers wait for about 20 ms.
const purgePages = 500

// Step begins or continues to remove deleted text. FTS5's secure-delete would take 50 ms for each paste. Step rewrites
// the index instead, and has finished when it finds nothing to merge (www.sqlite.org/fts5.html, 6.8).
func (p *Purge) Step(writer *gorm.DB) error {
	return writer.Connection(func(tx *gorm.DB) error {
		pages := purgePages
		if !p.running.Load() {
			var deleted, purged int64
			if err := tx.Raw("SELECT deleted, purged FROM search_remains").Row().Scan(&deleted, &purged); err != nil ||
				deleted == purged {
				return err
			}
			p.deleted, pages = deleted, -purgePages // all parts of the index
			p.running.Store(true)
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
		p.running.Store(false)
		return tx.Exec("UPDATE search_remains SET purged = ?", p.deleted).Error
	})
}

func totalChanges(tx *gorm.DB) (changes int64, err error) {
	err = tx.Raw("SELECT total_changes()").Row().Scan(&changes)
	return changes, err
}

// TruncateLog moves the log into the file and empties it, because the log still contains deleted text. It does nothing
// if another connection uses the log. patience is the busy timeout that it restores afterwards.
func TruncateLog(writer *gorm.DB, patience time.Duration) error {
	return writer.Connection(func(tx *gorm.DB) error {
		wait := "PRAGMA busy_timeout = " + strconv.FormatInt(patience.Milliseconds(), 10)
		return errors.Join(
			tx.Exec("PRAGMA busy_timeout = 0").Error, tx.Exec("PRAGMA wal_checkpoint(TRUNCATE)").Error, tx.Exec(wait).Error)
	})
}

// CompactResult is the size of a database file, in bytes, before and after Compact.
type CompactResult struct{ Before, After int64 }

// Compact shrinks a file to its content. Until it ends, the writes of a running server wait. It needs as much free disk
// space as the file has. patience is how long to wait for a lock. It fails with fault.Unavailable when the database is
// too busy.
func Compact(ctx context.Context, file string, patience time.Duration) (done CompactResult, err error) {
	if done.Before, err = fileSize(file); err != nil {
		return done, err
	}
	db, err := Open(file, "rw", patience)
	if err != nil {
		return done, err
	}
	defer db.Close() //nolint:errcheck // the data is already on the disk
	for _, statement := range []string{purgeIndex, "VACUUM"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return done, err
		}
	}
	// The checkpoint moves the log into the file and truncates it. It waits for readers of the old version.
	var busy, frames, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return done, err
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
	return info.Size() + LogSize(path, "-wal"), nil
}
