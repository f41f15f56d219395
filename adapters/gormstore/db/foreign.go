package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/gluepot/gluepot/adapters/gormstore/sqlitefile"
	"github.com/gluepot/gluepot/domain/fault"
)

// checkForeign fails with fault.Conflict when the database belongs to another program. It writes nothing. On SQLite it
// comes before the first connection for writing, which would turn WAL mode on.
func (s *Store) checkForeign(ctx context.Context) error {
	if s.file.Path() != "" {
		return checkForeignFile(ctx, s.file.Path(), s.cfg)
	}
	return checkTables(ctx, s.pools[0], s.dialect, s.cfg)
}

// checkForeignFile is checkForeign for an SQLite file.
func checkForeignFile(ctx context.Context, path string, cfg Config) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if file, err := os.Stat(path); err != nil || !file.Mode().IsRegular() {
		return nil // SQLite cannot open it either, and says so
	}
	mode := "ro"
	if isUnusedWAL(path) {
		mode = "ro&immutable=1" // otherwise SQLite would leave a log and its index beside the file
	}
	db, err := sqlitefile.Open(path, mode, cfg.ConnectTimeout)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it was only read
	return checkTables(ctx, db, sqliteDialect, cfg)
}

// isUnusedWAL reports whether a file is in WAL mode and no process has it open.
func isUnusedWAL(path string) bool {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return false
	}
	defer file.Close()             //nolint:errcheck // it was only read
	const readVersion, wal = 19, 2 // https://www.sqlite.org/fileformat2.html#the_database_header
	header := make([]byte, readVersion+1)
	_, unread := io.ReadFull(file, header)
	_, noLog := os.Stat(path + "-wal")
	return unread == nil && header[readVersion] == wal && errors.Is(noLog, fs.ErrNotExist)
}

// checkTables fails with fault.Conflict when a database without migrations has tables that are in the way. It looks for
// tables first: another process may migrate the database between the two queries.
func checkTables(ctx context.Context, db *sql.DB, dialect *Dialect, cfg Config) error {
	names, err := namesOf(ctx, db, dialect.relations)
	if err != nil || slices.Contains(names, unreleasedTable) {
		return err
	}
	inTheWay := slices.IndexFunc(names, dialect.foreign)
	if inTheWay < 0 {
		return nil
	}
	var version int64
	err = db.QueryRowContext(ctx, schemaVersion).Scan(&version)
	if version > 0 || err != nil && diagnose(err) != ErrOutdated {
		return err
	}
	return fault.New(fault.Conflict,
		fmt.Sprintf("The database %s belongs to another program: Gluepot did not create its %q. Nothing was changed. "+
			"Check %s, or use an empty database.", URL(cfg.URL), names[inTheWay], cfg.urlSetting()))
}

// namesOf returns the first column of a query.
func namesOf(ctx context.Context, db *sql.DB, query string) (names []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err reports it
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

var creates = regexp.MustCompile(`(?m)^CREATE (?:UNLOGGED |UNIQUE )?(?:TABLE|INDEX) (\w+)`)

// relationsOf returns the names of the tables and indexes that the migrations make.
func relationsOf(folder string) map[string]bool {
	names := make(map[string]bool)
	entries, _ := migrationFiles.ReadDir(folder) // they are part of the program
	for _, entry := range entries {
		text, _ := migrationFiles.ReadFile(folder + "/" + entry.Name())
		for _, match := range creates.FindAllSubmatch(text, -1) {
			names[string(match[1])] = true
		}
	}
	return names
}
