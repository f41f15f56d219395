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
	"modernc.org/sqlite"

	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/fault"
)

// maxSQLiteReaders is the number beyond which readers stop helping.
const maxSQLiteReaders = 4

// openSQLite opens one connection for writing and several for reading, which do not block each other (WAL).
func (s *Store) openSQLite() error {
	path, err := URL(s.cfg.URL).file()
	if err != nil {
		return err
	}
	s.Dialect, s.file.path, s.file.setting = sqliteDialect, path, s.cfg.urlSetting()
	s.pasteWrites, s.together = semaphore.NewWeighted(math.MaxInt64), s.separate
	s.Now = func() any { return model.Instant(s.Clock()) }
	s.Ago = func(d time.Duration) any { return model.Instant(s.Clock().Add(-d)) }
	s.Time = func(*gorm.DB) (time.Time, error) { return model.Instant(s.Clock()), nil }
	open := func(connections int, writes bool) (*sql.DB, error) {
		connector, err := sqlite.NewConnector(sqliteDSN(path, s.cfg, writes))
		if err != nil {
			return nil, err
		}
		db := sql.OpenDB(watchedConnector{connector, s.file})
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		s.pools = append(s.pools, db)
		return db, nil
	}
	if !s.cfg.RefuseWrites {
		writer, err := open(1, true) // it connects first, and sets WAL mode
		if err != nil {
			return err
		}
		if s.writer, err = s.openGORM(sqliteDialector{writer}); err != nil {
			return err
		}
		s.file.upkeep = s.upkeep
	}
	reader, err := open(s.cfg.MaxConnections, false)
	if err != nil {
		return err
	}
	s.reader, err = s.openGORM(sqliteDialector{newPreparedReads(reader)})
	return err
}

// upkeep removes deleted text from the index and the log once a minute. A large index takes several steps, one a second. A step
// that fails is tried again.
func (s *Store) upkeep(tick int) {
	minute := tick%upkeepTicks == 0
	if minute || s.purge.running.Load() {
		_ = s.PurgeStep()
	}
	if minute {
		_ = s.TruncateLog() // or when the last connection is closed
	}
}

// TruncateLog moves the log into the file and empties it, because it still contains deleted text. If another connection uses the log,
// it does nothing.
func (s *Store) TruncateLog() error {
	return s.writer.Connection(func(tx *gorm.DB) error {
		wait := "PRAGMA busy_timeout = " + strconv.FormatInt(s.cfg.ConnectTimeout.Milliseconds(), 10)
		return errors.Join(
			tx.Exec("PRAGMA busy_timeout = 0").Error, tx.Exec("PRAGMA wal_checkpoint(TRUNCATE)").Error, tx.Exec(wait).Error)
	})
}

// usableFile connects, and returns the file's path. It fails unless this program can work with it, and with fault.Invalid on PostgreSQL.
func (s *Store) usableFile(ctx context.Context) (path string, err error) {
	if _, err = URL(s.cfg.URL).file(); err == nil {
		err = s.Connect(ctx)
	}
	if err == nil {
		err = s.Ready(ctx)
	}
	return s.file.path, err
}

// sqliteDSN puts the pragmas where every pooled connection gets them. A commit survives a power cut (FULL), and deleted text is
// overwritten. Writing transactions take the write lock at once: one that upgrades later can fail without waiting.
func sqliteDSN(path string, cfg Config, writes bool) string {
	pragmas := []string{"busy_timeout(" + strconv.FormatInt(cfg.ConnectTimeout.Milliseconds(), 10) + ")", "foreign_keys(1)"}
	options := url.Values{
		"mode":                 {"rw"}, // never creates the file
		"_txlock":              {"deferred"},
		"_inttotime":           {"1"},
		"_time_integer_format": {"unix_micro"},
	}
	if cfg.RefuseWrites {
		options.Set("mode", "ro")
		if cfg.Offline && isFrozen(path) {
			options.Set("immutable", "1")
		}
	}
	if writes {
		pragmas = append(pragmas, "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(1)")
		options.Set("_txlock", "immediate")
	} else {
		pragmas = append(pragmas, "query_only(1)")
	}
	options["_pragma"] = pragmas
	return sqliteURI(path) + "?" + options.Encode()
}

// isFrozen reports whether SQLite can read a file only as immutable: in a folder that cannot be written, it cannot make the shared-memory
// file that WAL mode needs. A log that is not empty cannot be read that way.
func isFrozen(path string) bool {
	if _, err := os.Stat(path); err != nil || logSize(path, "-wal") > 0 {
		return false
	}
	if checkForeignFile(context.Background(), path, Config{}) != nil { // Connect says so, and leaves no log of WAL mode
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

// logSize returns the size of a log beside a database, where SQLite writes it: beside the file that a link leads to. It is 0 without a log.
func logSize(path, suffix string) int64 {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if log, err := os.Stat(path + suffix); err == nil {
		return log.Size()
	}
	return 0
}

// createPrivate makes an empty database and its folder, readable by their owner only, unless the file exists. Root gives it
// the owner of its folder. The database is in WAL mode from the beginning: processes that switch it at the same time can fail.
func createPrivate(ctx context.Context, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	log := checkNoLog(path) // before the next line: another process makes the database first
	if _, err := os.Lstat(path); err == nil {
		if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return errors.New("it is a link to a file that is not there")
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
	db, err := plainSQLite(partial.path, "rw", time.Second)
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

// fileWatchInterval is how long reads may use a file that was replaced or removed. Writes notice at once.
const fileWatchInterval = time.Second

// upkeepTicks is how many intervals pass before the log is emptied.
const upkeepTicks = 60

var errFileReplaced = fault.New(fault.Unavailable,
	"The database file was replaced or removed while it was in use. Restart the server.")

// watchedFile notices when an SQLite file is replaced or removed: open connections would go on writing to the old one. Until it is
// opened, its other methods do nothing.
type watchedFile struct {
	path     string // empty on PostgreSQL
	setting  string // the variable that names it
	opening  sync.Mutex
	identity os.FileInfo                 // of the file that the connections use; nil before open
	log      atomic.Pointer[os.FileInfo] // SQLite keeps the log while a connection is open; nil: not seen yet
	replaced atomic.Bool                 // whether a check has found this
	// upkeep is called at each tick, unless it is nil.
	upkeep   func(tick int)
	stop     func() // ends the watching
	watching sync.WaitGroup
}

// watchedConnector opens connections to a watched file, and closes those that reached its replacement (TestSQLiteFileReplaced).
type watchedConnector struct {
	driver.Connector

	file *watchedFile
}

// Connect implements driver.Connector.
func (c watchedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.file.check(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// open calls connect, and then watches the file, if there is one. A second call checks that the file is still there.
func (f *watchedFile) open(connect func() error) error {
	if f.path == "" {
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
	identity, err := os.Stat(f.path) // after connecting: a file of a container image changes its identity with the first write
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	f.identity, f.stop = identity, stop
	f.watching.Go(func() {
		ticks := time.Tick(fileWatchInterval)
		for tick := 1; f.check() == nil; tick++ {
			select {
			case <-ctx.Done():
				return
			case <-ticks:
			}
			if f.upkeep != nil {
				f.upkeep(tick)
			}
		}
	})
	return nil
}

// check fails once the path names another file, or none.
func (f *watchedFile) check() error {
	if f.identity == nil {
		return nil
	}
	if gone(f.path, f.identity) && f.replaced.CompareAndSwap(false, true) {
		f.setLogAside()
	}
	if path, err := filepath.EvalSymlinks(f.path); err == nil { // as SQLite names its log
		if known := f.log.Load(); known == nil {
			if log, err := os.Stat(path + "-wal"); err == nil {
				f.log.CompareAndSwap(nil, &log)
			}
		} else if gone(path+"-wal", *known) {
			f.replaced.Store(true)
		}
	}
	if f.replaced.Load() {
		return errFileReplaced
	}
	return nil
}

// setLogAside moves the log away when another file has taken the place of its own: SQLite would write it into that one.
func (f *watchedFile) setLogAside() {
	path, err := filepath.EvalSymlinks(f.path)
	if known := f.log.Load(); err == nil && known != nil && !gone(path+"-wal", *known) {
		_ = os.Rename(path+"-wal", path+"-wal.replaced")
		_ = os.Remove(path + "-shm")
	}
}

// gone reports whether a path names another file than before, or none. It ignores other errors.
func gone(path string, before os.FileInfo) bool {
	now, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(before, now)
}

// close stops watching, and reports whether the path still names the file.
func (f *watchedFile) close() bool {
	f.opening.Lock()
	defer f.opening.Unlock()
	f.stop()
	f.watching.Wait()
	return f.check() == nil
}
