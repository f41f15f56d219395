package db

import (
	"context"
	"database/sql"
	"math"
	"net/url"
	"os"
	"strconv"

	"golang.org/x/sync/semaphore"
	"modernc.org/sqlite"

	"github.com/gluepot/gluepot/adapters/gormstore/sqlitefile"
)

// maxSQLiteReaders limits the connections for reading. More would not make reads faster.
const maxSQLiteReaders = 4

// openSQLite opens one connection for writing and several for reading, which do not block each other (WAL).
func (s *Store) openSQLite() error {
	path, err := URL(s.cfg.URL).file()
	if err != nil {
		return err
	}
	s.dialect = sqliteDialect
	var upkeep func(int)
	if !s.cfg.RefuseWrites {
		upkeep = s.upkeep
	}
	s.file = sqlitefile.NewWatcher(path, missingFile(path, s.cfg.urlSetting()), upkeep)
	unbounded := semaphore.NewWeighted(math.MaxInt64)
	s.pasteWrites, s.turns, s.together = unbounded, unbounded, s.writeSeparately
	open := func(connections int, writes bool) (*sql.DB, error) {
		connector, err := sqlite.NewConnector(sqliteDSN(path, s.cfg, writes))
		if err != nil {
			return nil, err
		}
		db := sql.OpenDB(s.file.Connector(preparingConnector{connector}))
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
	}
	reader, err := open(s.cfg.MaxConnections, false)
	if err != nil {
		return err
	}
	s.reader, err = s.openGORM(sqliteDialector{reader})
	return err
}

// sqliteDSN puts the pragmas where every pooled connection gets them. A commit survives a power cut (FULL), and deleted
// text is overwritten. Writing transactions take the write lock at once: one that upgrades later can fail without
// waiting.
func sqliteDSN(path string, cfg Config, writes bool) string {
	pragmas := []string{"busy_timeout(" + strconv.FormatInt(cfg.ConnectTimeout.Milliseconds(), 10) + ")",
		"foreign_keys(1)"}
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
	return sqlitefile.URI(path) + "?" + options.Encode()
}

// isFrozen reports whether SQLite can read a file only as immutable: in a folder that cannot be written, it cannot make
// the shared-memory file that WAL mode needs. A log that is not empty cannot be read that way.
func isFrozen(path string) bool {
	if _, err := os.Stat(path); err != nil || sqlitefile.LogSize(path, "-wal") > 0 {
		return false
	}
	if checkForeignFile(context.Background(), path, Config{}) != nil { // Connect says so, and leaves no log of WAL mode
		return false
	}
	db, err := sql.Open("sqlite", sqlitefile.URI(path)+"?mode=ro")
	if err != nil {
		return false
	}
	defer db.Close() //nolint:errcheck // it was only read
	var tables int
	err = db.QueryRowContext(context.Background(), "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	return sqlitefile.IsForbidden(err)
}
