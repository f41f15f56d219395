package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/gluepot/gluepot/adapters/gormstore/sqlitefile"
	"github.com/gluepot/gluepot/domain/fault"
)

// upkeepTicks is how many seconds pass before the log is emptied.
const upkeepTicks = 60

// upkeep removes deleted text from the index and the log once a minute. A large index takes several steps, one a
// second. A step that fails is tried again.
func (s *Store) upkeep(tick int) {
	minute := tick%upkeepTicks == 0
	if minute || s.purge.Running() {
		_ = s.PurgeStep()
	}
	if minute {
		_ = s.TruncateLog() // or when the last connection is closed
	}
}

// PurgeStep is sqlitefile.Purge's Step.
func (s *Store) PurgeStep() error { return s.purge.Step(s.writer) }

// TruncateLog is sqlitefile.TruncateLog.
func (s *Store) TruncateLog() error { return sqlitefile.TruncateLog(s.writer, s.cfg.ConnectTimeout) }

// usableFile connects, and returns the file's path. It fails if this program cannot work with the file, and with
// fault.Invalid on PostgreSQL.
func (s *Store) usableFile(ctx context.Context) (path string, err error) {
	if _, err = URL(s.cfg.URL).file(); err == nil {
		err = s.Connect(ctx)
	}
	if err == nil {
		err = s.Ready(ctx)
	}
	return s.file.Path(), err
}

// missingFile returns the error for an SQLite file that does not exist.
func missingFile(path, setting string) *fault.Error {
	text := "There is no database at sqlite://" + path + ": check " + setting
	if setting == defaultSetting {
		text += ", or run 'gluepot migrate up' to create it"
	}
	return fault.New(fault.Unavailable, text+".")
}

// Backup writes a snapshot of an SQLite database in use to a new file, readable by its owner only. It leaves out
// clients' quotas and addresses. The file gets its name once it is complete and on the disk.
//
// It fails with fault.Conflict when the file exists, with fault.Unavailable when the database is an unfinished copy,
// and with fault.Invalid on PostgreSQL.
func (s *Store) Backup(ctx context.Context, path string) error {
	file, err := s.usableFile(ctx)
	if err != nil {
		return err
	}
	return Translate(sqlitefile.Backup(ctx, file, path, s.cfg.ConnectTimeout))
}

// BackupDated writes a backup, as Backup does, to a new file in a folder, and returns its path. If that succeeds, it
// removes the oldest of its backups of this database in the folder until keep are left, and returns their paths. It
// does not touch other files, or backups of other databases.
func (s *Store) BackupDated(ctx context.Context, folder string, keep int) (path string, removed []string, err error) {
	file, err := s.usableFile(ctx)
	if err != nil {
		return "", nil, err
	}
	path, removed, err = sqlitefile.BackupDated(ctx, file, folder, keep, s.cfg.ConnectTimeout)
	return path, removed, Translate(err)
}

// Compact shrinks an SQLite file to its content. Until it ends, the writes of a running server wait. It needs as much
// free disk space as the file has. It fails with fault.Unavailable when the database is too busy or the disk full, and
// with fault.Invalid on PostgreSQL.
func (s *Store) Compact(ctx context.Context) (sqlitefile.CompactResult, error) {
	file, err := s.usableFile(ctx)
	if err != nil {
		return sqlitefile.CompactResult{}, err
	}
	done, err := sqlitefile.Compact(ctx, file, s.cfg.ConnectTimeout)
	return done, Translate(err)
}

// Restore turns a copy of a backup into the SQLite database of cfg, as sqlitefile.Restore does. It fails with
// fault.Invalid on PostgreSQL.
func Restore(
	ctx context.Context, cfg Config, from string, replacement sqlitefile.Replacement,
) (done sqlitefile.RestoreResult, err error) {
	path, err := URL(cfg.URL).file()
	if err != nil {
		return done, err
	}
	done, err = sqlitefile.Restore(ctx, sqlitefile.Target{
		Path: path, Patience: cfg.ConnectTimeout, Versions: backupVersions,
		CheckForeign: func(ctx context.Context, path string) error { return checkForeignFile(ctx, path, cfg) },
	}, from, replacement)
	if sqlitefile.IsFull(err) {
		err = Translate(err)
	}
	return done, err
}

// backupVersions reads the version of a backup, and the newest that this program knows.
func backupVersions(ctx context.Context, backup *sql.DB, from string) (version, latest int64, err error) {
	refused := func(format string, args ...any) (int64, int64, error) {
		return 0, 0, fault.New(fault.Invalid, from+fmt.Sprintf(format, args...))
	}
	latest = sqliteDialect.latestVersion()
	err = backup.QueryRowContext(ctx, schemaVersion).Scan(&version)
	switch {
	case err != nil && diagnose(err) == ErrOutdated || err == nil && version == 0:
		if backup.QueryRowContext(ctx, "SELECT count(*) FROM "+unreleasedTable).Scan(&version) == nil {
			return refused(" is from before Gluepot's first release, and this version cannot read it.")
		}
		return refused(" is a database, but not Gluepot's.")
	case err != nil:
		return 0, 0, Translate(err)
	case version > latest:
		return refused(" is at version %d, but this program knows only versions up to %d. Run a newer gluepot.",
			version, latest)
	}
	return version, latest, nil
}
