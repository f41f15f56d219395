package sqlitefile

import (
	"context"
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// fileWatchInterval is how long reads may use a file that was replaced or removed. Writes notice at once.
const fileWatchInterval = time.Second

// ErrReplaced is the error for a file that was replaced or removed.
var ErrReplaced = fault.New(fault.Unavailable,
	"The database file was replaced or removed while it was in use. Restart the server.")

// Watched notices when a file is replaced or removed: open connections would go on writing to the old one. Until it is
// opened, its other methods do nothing. The zero value is of no file. Build others with NewWatched.
type Watched struct {
	path     string
	missing  *fault.Error // for a file that does not exist
	opening  sync.Mutex
	identity os.FileInfo                 // of the file that the connections use; nil before open
	log      atomic.Pointer[os.FileInfo] // SQLite keeps the log while a connection is open; nil: not seen yet
	replaced atomic.Bool                 // whether a check has found this
	upkeep   func(tick int)
	stop     func() // ends the watching
	watching sync.WaitGroup
}

// NewWatched returns the file at a path. Open fails with missing if there is none. While the file is open, upkeep is
// called once a second, unless it is nil.
func NewWatched(path string, missing *fault.Error, upkeep func(tick int)) *Watched {
	return &Watched{path: path, missing: missing, upkeep: upkeep}
}

// Path returns the path, and "" for no file.
func (f *Watched) Path() string { return f.path }

// Connector returns a connector that closes connections which reached the file's replacement (TestSQLiteFileReplaced).
func (f *Watched) Connector(connector driver.Connector) driver.Connector {
	return watchedConnector{connector, f}
}

// watchedConnector opens connections to a watched file.
type watchedConnector struct {
	driver.Connector

	file *Watched
}

// Connect implements driver.Connector.
func (c watchedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.file.Check(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Open calls connect, and then watches the file, if there is one. A second call checks that the file is still there.
func (f *Watched) Open(connect func() error) error {
	if f.path == "" {
		return connect()
	}
	f.opening.Lock()
	defer f.opening.Unlock()
	if f.identity != nil {
		if err := f.Check(); err != nil {
			return err
		}
		return connect()
	}
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		return f.missing
	}
	if err := connect(); err != nil {
		return err
	}
	// after connecting: a file of a container image changes its identity with the first write
	identity, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	f.identity, f.stop = identity, stop
	f.watching.Go(func() {
		ticks := time.Tick(fileWatchInterval)
		for tick := 1; f.Check() == nil; tick++ {
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

// Check fails once the path names another file, or none.
func (f *Watched) Check() error {
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
	return f.Replaced()
}

// Replaced returns the last result of Check.
func (f *Watched) Replaced() error {
	if f.replaced.Load() {
		return ErrReplaced
	}
	return nil
}

// setLogAside moves the log away when another file has taken the place of its own: SQLite would write it into that one.
func (f *Watched) setLogAside() {
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

// Close stops watching, and reports whether the path still names the file.
func (f *Watched) Close() bool {
	f.opening.Lock()
	defer f.opening.Unlock()
	if f.stop != nil {
		f.stop()
	}
	f.watching.Wait()
	return f.Check() == nil
}
