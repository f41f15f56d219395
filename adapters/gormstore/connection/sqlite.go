package connection

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"gorm.io/gorm"
	_ "modernc.org/sqlite" // the driver

	"github.com/gluepot/gluepot/domain/fault"
)

// maxSQLiteReaders is where more readers stop helping.
const maxSQLiteReaders = 4

// openSQLite opens one connection that writes, and some that only read: readers and the writer do not block each other (WAL).
func (s *Store) openSQLite(path string, readers int) error {
	s.Dialect, s.file = sqliteDialect, newWatchedFile(path, s.cfg.urlSetting())
	s.pasteWrites = semaphore.NewWeighted(math.MaxInt64)
	open := func(connections int, dsn string) (*sql.DB, error) {
		plain, err := sql.Open("sqlite", dsn)
		if err != nil {
			return nil, err
		}
		db := sql.OpenDB(watchedConnector{plain.Driver(), dsn, s.file})
		if err := plain.Close(); err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		s.pools = append(s.pools, db)
		return db, nil
	}
	reader, err := open(readers, sqliteDSN(path, s.cfg, false))
	if err != nil {
		return err
	}
	if s.reader, err = s.openGORM(sqliteDialector{newPreparedReads(reader)}); err != nil || s.cfg.ReadOnly {
		return err
	}
	writer, err := open(1, sqliteDSN(path, s.cfg, true))
	if err != nil {
		return err
	}
	s.pools[0], s.pools[1] = s.pools[1], s.pools[0] // the writer puts the file into WAL mode before one reads
	s.file.upkeep = s.upkeep
	s.writer, err = s.openGORM(sqliteDialector{writer})
	return err
}

// upkeep takes what was deleted out of the file: each minute, and out of a large index in steps of which there is one a second. What fails
// is done the next time.
func (s *Store) upkeep(tick int) {
	minute := tick%upkeepTicks == 0
	if minute || s.purge.under {
		_ = s.PurgeStep()
	}
	if minute {
		_ = s.TruncateLog() // or when the last connection is closed
	}
}

// TruncateLog moves what is in the log into the file, and empties the log: it would go on to hold what has been deleted. It waits for
// none of the other connections, and leaves the log for the next time when one is using it.
func (s *Store) TruncateLog() error {
	return s.writer.Connection(func(tx *gorm.DB) error {
		wait := "PRAGMA busy_timeout = " + strconv.FormatInt(s.cfg.ConnectTimeout.Milliseconds(), 10)
		return errors.Join(
			tx.Exec("PRAGMA busy_timeout = 0").Error, tx.Exec("PRAGMA wal_checkpoint(TRUNCATE)").Error, tx.Exec(wait).Error)
	})
}

// sqliteDSN puts the pragmas where every pooled connection gets them. A commit survives a power cut (FULL), deleted text is
// overwritten, and writing transactions take the write lock at once, because one that takes it late can fail without having
// waited.
func sqliteDSN(path string, cfg Config, writes bool) string {
	pragmas := []string{"busy_timeout(" + strconv.FormatInt(cfg.ConnectTimeout.Milliseconds(), 10) + ")", "foreign_keys(1)"}
	options := url.Values{
		"mode":                 {"rw"}, // never creates the file
		"_txlock":              {"deferred"},
		"_inttotime":           {"1"},
		"_time_integer_format": {"unix_micro"},
	}
	switch {
	case cfg.ReadOnly:
		options.Set("mode", "ro")
		if isFrozen(path) {
			options.Set("immutable", "1")
		}
	case writes:
		pragmas = append(pragmas, "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(1)")
		options.Set("_txlock", "immediate")
	default:
		pragmas = append(pragmas, "query_only(1)")
	}
	options["_pragma"] = pragmas
	return sqliteURI(path) + "?" + options.Encode()
}

// isFrozen reports whether a file can only be read if SQLite makes no file beside it and looks for no changes, because its folder
// or the file system is read-only. What is in a log cannot be read that way.
func isFrozen(path string) bool {
	if beside, err := besideFile(path, "-wal"); err != nil {
		return false
	} else if log, err := os.Stat(beside); err == nil && log.Size() > 0 {
		return false
	}
	db, err := sql.Open("sqlite", sqliteURI(path)+"?mode=ro")
	if err != nil {
		return false
	}
	defer db.Close() //nolint:errcheck // it was only read
	var tables int
	err = db.QueryRowContext(context.Background(), "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	return err != nil && diagnose(err) == forbidden
}

func sqliteURI(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

// createPrivate makes an empty file and its folder that only their owner may read, unless there is a file.
func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrExist) {
		if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return errors.New("it is a link to a file that is not there")
		}
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// besideFile returns the path of a file beside the database file itself, and not beside a link to it, as SQLite does for its log.
func besideFile(path, suffix string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	return real + suffix, err
}

// fileWatchInterval is how long reads may go on from a file that was replaced or removed. Writes notice at once.
const fileWatchInterval = time.Second

// upkeepTicks is how many of these pass before the log is emptied.
const upkeepTicks = 60

var errFileReplaced = fault.New(fault.Unavailable,
	"The database file was replaced or removed while it was in use. Restart the server.")

// watchedFile notices that the path of an SQLite database has come to name another file, or none. The open connections would go
// on with the old one, and what they write would be lost with it. A nil one stands for PostgreSQL, which has no file, and never fails.
type watchedFile struct {
	path     string
	setting  string // what path was read from
	opening  sync.Mutex
	identity os.FileInfo                 // of the file that the connections are to; nil before open
	log      atomic.Pointer[os.FileInfo] // as long as a connection is open, SQLite leaves its log in place; nil: none was seen yet
	replaced atomic.Bool
	// upkeep is called at each tick, unless it is nil.
	upkeep   func(tick int)
	stop     chan struct{}
	watching sync.WaitGroup
}

func newWatchedFile(path, setting string) *watchedFile {
	return &watchedFile{path: path, setting: setting, stop: make(chan struct{})}
}

// isReplaced reports what the last check found.
func (f *watchedFile) isReplaced() bool { return f != nil && f.replaced.Load() }

// watchedConnector opens connections to a watched file. One that was opened after the file had been replaced would be to the other file
// (TestSQLiteFileReplaced).
type watchedConnector struct {
	driver driver.Driver
	dsn    string
	file   *watchedFile
}

// Connect implements driver.Connector.
func (c watchedConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if err := c.file.check(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector.
func (c watchedConnector) Driver() driver.Driver { return c.driver }

// create makes the file and its folder, unless it is there.
func (f *watchedFile) create() error {
	if f == nil {
		return nil
	}
	return createPrivate(f.path)
}

// open calls connect, notes which file that opened, and watches it. A second call only looks whether it is still there.
func (f *watchedFile) open(connect func() error) error {
	if f == nil {
		return connect()
	}
	f.opening.Lock()
	defer f.opening.Unlock()
	if f.identity != nil {
		if err := f.check(); err != nil {
			return err
		}
		return connect()
	}
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		text := "There is no database at sqlite://" + f.path + ": check " + f.setting
		if f.setting == defaultSetting {
			text += ", or run 'gluepot migrate up' to create it"
		}
		return fault.New(fault.Unavailable, text+".")
	}
	if err := connect(); err != nil {
		return err
	}
	identity, err := os.Stat(f.path) // after: a file of a container image changes its identity with the first write
	if err != nil {
		return err
	}
	f.identity = identity
	f.watching.Go(func() {
		ticker := time.NewTicker(fileWatchInterval)
		defer ticker.Stop()
		for tick := 1; f.check() == nil; tick++ {
			select {
			case <-f.stop:
				return
			case <-ticker.C:
			}
			if f.upkeep != nil {
				f.upkeep(tick)
			}
		}
	})
	return nil
}

// check fails once a path does not name its file any more.
func (f *watchedFile) check() error {
	if f == nil || f.identity == nil {
		return nil
	}
	if gone(f.path, f.identity) {
		f.replaced.Store(true)
	}
	if path, err := besideFile(f.path, "-wal"); err == nil {
		if known := f.log.Load(); known == nil {
			if log, err := os.Stat(path); err == nil {
				f.log.CompareAndSwap(nil, &log)
			}
		} else if gone(path, *known) {
			f.replaced.Store(true)
		}
	}
	if f.replaced.Load() {
		return errFileReplaced
	}
	return nil
}

// gone reports whether a path names another file than before, or none. A folder that cannot be looked into says nothing.
func gone(path string, before os.FileInfo) bool {
	now, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(before, now)
}

// close stops watching, and reports whether the path still names the file.
func (f *watchedFile) close() bool {
	if f == nil {
		return true
	}
	f.opening.Lock()
	defer f.opening.Unlock()
	select {
	case <-f.stop:
	default:
		close(f.stop)
	}
	f.watching.Wait()
	return f.check() == nil
}
