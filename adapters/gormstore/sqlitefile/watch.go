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

// fileWatchInterval is how long reads may go on using a file that was replaced or removed. Writes notice at once.
const fileWatchInterval = time.Second

// ErrReplaced is the error for a file that was replaced or removed.
var ErrReplaced = fault.New(fault.Unavailable,
	"The database file was replaced or removed while it was in use. Restart the server.")

// Watcher notices when a file is replaced or removed, because open connections would go on writing to the old file.
// Before Open, its other methods do nothing. The zero value watches nothing. Build others with NewWatcher.
type Watcher struct {
	path     string
	missing  *fault.Error // for a file that does not exist
	opening  sync.Mutex
	identity os.FileInfo                 // of the file that the connections use; nil before open
	log      atomic.Pointer[os.FileInfo] // of the log, which exists while a connection is open; nil: not seen yet
	replaced atomic.Bool                 // a check has found that
	upkeep   func(tick int)
	stop     func() // ends the watching
	watching sync.WaitGroup
}

// NewWatcher returns a watcher of a file. Open fails with missing if the file does not exist. While it is open, upkeep
// is called once a second, unless it is nil.
func NewWatcher(path string, missing *fault.Error, upkeep func(tick int)) *Watcher {
	return &Watcher{path: path, missing: missing, upkeep: upkeep}
}

// Path returns the path of the file, or "".
func (f *Watcher) Path() string { return f.path }

// Connector returns a connector that closes connections which reached the file's replacement (TestSQLiteFileReplaced).
func (f *Watcher) Connector(connector driver.Connector) driver.Connector {
	return watchedConnector{connector, f}
}

// watchedConnector checks the file after it has opened a connection.
type watchedConnector struct {
	driver.Connector

	file *Watcher
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
func (f *Watcher) Open(connect func() error) error {
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
func (f *Watcher) Check() error {
	if f.identity == nil {
		return nil
	}
	if isReplaced(f.path, f.identity) && f.replaced.CompareAndSwap(false, true) {
		f.moveLogAway()
	}
	if path, err := filepath.EvalSymlinks(f.path); err == nil { // as SQLite names its log
		if before := f.log.Load(); before == nil {
			if log, err := os.Stat(path + "-wal"); err == nil {
				f.log.CompareAndSwap(nil, &log)
			}
		} else if isReplaced(path+"-wal", *before) {
			f.replaced.Store(true)
		}
	}
	return f.Replaced()
}

// Replaced returns the last result of Check.
func (f *Watcher) Replaced() error {
	if f.replaced.Load() {
		return ErrReplaced
	}
	return nil
}

// moveLogAway moves the log away when its file has been replaced. SQLite would write the log into the new file.
func (f *Watcher) moveLogAway() {
	path, err := filepath.EvalSymlinks(f.path)
	if log := f.log.Load(); err == nil && log != nil && !isReplaced(path+"-wal", *log) {
		_ = os.Rename(path+"-wal", path+"-wal.replaced")
		_ = os.Remove(path + "-shm")
	}
}

// isReplaced reports whether a path names another file than before, or none. It ignores other errors.
func isReplaced(path string, before os.FileInfo) bool {
	now, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(before, now)
}

// Close stops watching, and reports whether the path still names the file.
func (f *Watcher) Close() bool {
	f.opening.Lock()
	defer f.opening.Unlock()
	if f.stop != nil {
		f.stop()
	}
	f.watching.Wait()
	return f.Check() == nil
}
