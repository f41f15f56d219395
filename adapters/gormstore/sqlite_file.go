package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// fileWatchInterval is how long reads may go on from a file that was replaced or removed. Writes notice at once.
const fileWatchInterval = time.Second

var errFileReplaced = fault.New(fault.Unavailable,
	"The database file was replaced or removed while it was in use, or the log beside it (-wal) was. Restart the server.")

// sqliteFile is the file of an SQLite database, and opens the connections to it. All are to the one file that was
// there when the first was opened: a path may come to name another file, or none, while the open ones go
// on with the old one, whose new content would be lost with it (decision 0017).
//
// SQLite has locks that belong to the process and the file, and the operating system drops them when any descriptor
// of the file is closed. So it is looked at by its path only.
type sqliteFile struct {
	driver.Connector
	path       string
	url        URL
	urlSetting string // see Config.URLSetting

	opening  sync.Mutex
	identity os.FileInfo // of the file that the first connection opened
	replaced atomic.Bool // once true, it stays so

	keeper  driver.Conn // see keepLog
	logPath string
	log     atomic.Pointer[fs.FileInfo] // of the log beside the file; nil: not noted

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

func newSQLiteFile(path string, cfg Config) (*sqliteFile, error) {
	connector, err := newSQLiteConnector(path, sqliteDSN(path), cfg)
	if err != nil {
		return nil, err
	}
	return &sqliteFile{Connector: connector, path: path, url: cfg.URL, urlSetting: cfg.urlSetting()}, nil
}

// create makes the file and its folder for nobody but their owner, unless they are there. SQLite gives the files
// beside it the mode of the first.
func (f *sqliteFile) create() error {
	err := os.MkdirAll(filepath.Dir(f.path), 0o700)
	if err == nil {
		err = createPrivate(f.path)
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, fmt.Sprintf("Cannot create the database %s. Check %s.", f.url, f.urlSetting), err)
	}
	return nil
}

// createPrivate makes an empty file that only its owner may read, unless there is a file. It opens none that is there.
func createPrivate(path string) error {
	if _, err := os.Lstat(path); err == nil {
		if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return errors.New("it is a link to a file that is not there")
		}
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// Connect implements driver.Connector. It never creates a file.
func (f *sqliteFile) Connect(ctx context.Context) (driver.Conn, error) {
	f.opening.Lock()
	if f.identity == nil {
		defer f.opening.Unlock()
		return f.connectFirst(ctx)
	}
	f.opening.Unlock()
	if err := f.check(); err != nil {
		return nil, err
	}
	conn, err := f.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil { // it may be a connection to another file
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// connectFirst opens the first connection and notes which file it is to. It tries twice, because a file of a
// container image can change its identity when it is opened for writing for the first time.
func (f *sqliteFile) connectFirst(ctx context.Context) (driver.Conn, error) {
	for range 2 {
		before, err := os.Stat(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.New(fault.Unavailable,
				fmt.Sprintf("There is no database at %s: check %s, or run 'gluepot migrate up' to create it.", f.url, f.urlSetting))
		}
		if err != nil {
			return nil, err
		}
		conn, err := f.connect(ctx)
		if err != nil {
			return nil, err
		}
		after, err := os.Stat(f.path)
		if err == nil && os.SameFile(before, after) {
			f.identity = after
			return conn, nil
		}
		_ = conn.Close()
	}
	return nil, errFileReplaced
}

func (f *sqliteFile) connect(ctx context.Context) (driver.Conn, error) {
	conn, err := f.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := conn.(checkedConn)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("the SQLite driver's %T lacks a method", conn)
	}
	return &fileConn{own, f}, nil
}

// check fails once the path does not name the file any more that the connections are to.
func (f *sqliteFile) check() error {
	if f.replaced.Load() {
		return errFileReplaced
	}
	if f.identity == nil {
		return nil // no connection has been opened
	}
	log := f.log.Load()
	if f.isStill(f.identity, f.path) && (log == nil || f.isStill(*log, f.logPath)) {
		return nil
	}
	f.replaced.Store(true)
	return errFileReplaced
}

// isStill reports whether path names the file that it named before.
func (f *sqliteFile) isStill(before os.FileInfo, path string) bool {
	now, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // a folder that cannot be looked into says nothing about the file
	}
	return os.SameFile(before, now)
}

// beside returns the path of a file that stands beside the database file itself and not beside a link to it, so that it is the
// same by whichever path the database is opened. SQLite does it for its log.
func (f *sqliteFile) beside(suffix string) (string, error) {
	real, err := filepath.EvalSymlinks(f.path)
	return real + suffix, err
}

// keepLog opens one more connection, on which nothing is ever interrupted, and notes which file the log is. As long as
// a connection is open, SQLite leaves its log in place: if it goes, somebody has removed it, and what is written to
// the removed one is lost with the process.
func (f *sqliteFile) keepLog(ctx context.Context) error {
	log, err := f.beside("-wal")
	if err != nil {
		return err
	}
	f.logPath = log
	if f.keeper, err = f.Connector.Connect(ctx); err != nil {
		return err
	}
	queryer, ok := f.keeper.(driver.QueryerContext)
	if !ok {
		return fmt.Errorf("the SQLite driver's %T lacks a method", f.keeper)
	}
	rows, err := queryer.QueryContext(ctx, "SELECT count(*) FROM sqlite_master", nil) // the first read opens the log
	if err != nil {
		return err
	}
	if err := rows.Close(); err != nil {
		return err
	}
	if log, err := os.Stat(f.logPath); err == nil {
		f.log.Store(&log)
	}
	return nil
}

// open opens every connection of a pool, so that none is opened later than necessary.
func (f *sqliteFile) open(ctx context.Context, db *sql.DB) (err error) {
	for range db.Stats().MaxOpenConnections {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // it goes back to the pool, when all are open
	}
	return f.keepLog(ctx)
}

// watch looks at the file now and then until close is called.
func (f *sqliteFile) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	f.stopped.Go(func() {
		ticker := time.NewTicker(fileWatchInterval)
		defer ticker.Stop()
		for f.check() == nil {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

func (f *sqliteFile) close() {
	if f.stop != nil {
		f.stop()
		f.stopped.Wait()
	}
	// The last connection that closes removes the log by its name. If that is another's by now, it stays open.
	if f.keeper != nil && f.check() == nil {
		_ = f.keeper.Close()
	}
}

// fileConn is a connection that knows its file. What was written is only acknowledged if the file was still in its
// place after that. Writes are expected by ExecContext or in a transaction.
type fileConn struct {
	checkedConn
	file *sqliteFile
}

// checkedConn is a waitingConn: a connection that takes a clock for an argument.
type checkedConn interface {
	driverConn
	driver.NamedValueChecker
}

// ResetSession implements driver.SessionResetter: database/sql calls it before each use. After ErrBadConn it asks the connector for
// another connection, which says why there is none.
func (c *fileConn) ResetSession(ctx context.Context) error {
	if c.file.replaced.Load() {
		return driver.ErrBadConn
	}
	return c.checkedConn.ResetSession(ctx)
}

// ExecContext implements driver.ExecerContext.
func (c *fileConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.checkedConn.ExecContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return result, c.file.check()
}

// BeginTx implements driver.ConnBeginTx.
func (c *fileConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.checkedConn.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return fileTx{tx, c.file}, nil
}

type fileTx struct {
	driver.Tx
	file *sqliteFile
}

// Commit implements driver.Tx.
func (t fileTx) Commit() error {
	if err := t.Tx.Commit(); err != nil {
		return err
	}
	return t.file.check()
}
