package gormstore

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/gluepot/gluepot/domain/fault"
)

//go:embed migrations
var migrationFiles embed.FS

const (
	migrationsTable = "gluepot_migrations"
	// migrationLockID is the advisory lock that nodes starting at once queue for.
	migrationLockID = 7163384644223837029
	// migrationLockWait is how long, in seconds, a node waits for another's migrations.
	migrationLockWait = 300
)

type migrationSource struct {
	dialect goose.Dialect
	folder  string
}

var (
	postgresMigrations = migrationSource{goose.DialectPostgres, "migrations/postgres"}
	sqliteMigrations   = migrationSource{goose.DialectSQLite3, "migrations/sqlite"}
)

// Migration is one step of the schema and whether the database has it.
type Migration struct {
	Version   int64
	File      string
	AppliedAt time.Time // zero: pending
}

// Migrate brings the schema up to date. Nodes that start at once wait for each other.
// A database that is newer than this program is refused with an error, untouched.
func (s *Store) Migrate(ctx context.Context) error {
	if ready, err := s.schemaCurrent(ctx); err != nil || ready {
		return err
	}
	provider, err := s.migrationProvider()
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", translate(err))
	}
	_, err = s.schemaCurrent(ctx) // another node may be newer than this one
	return err
}

// Migrations lists every migration in order. It changes nothing but, on a new database, creates the
// table that migrations are noted in.
func (s *Store) Migrations(ctx context.Context) ([]Migration, error) {
	provider, err := s.migrationProvider()
	if err != nil {
		return nil, err
	}
	statuses, err := provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state of the migrations: %w", translate(err))
	}
	migrations := make([]Migration, len(statuses))
	for i, status := range statuses {
		migrations[i] = Migration{Version: status.Source.Version, File: status.Source.Path, AppliedAt: status.AppliedAt}
	}
	return migrations, nil
}

// Ready returns nil when the database answers and has every migration that this program needs. It may
// have more: during a rolling update the nodes of the older version go on serving.
// It fails with fault.Unavailable.
func (s *Store) Ready(ctx context.Context) error {
	version, err := s.version(ctx)
	if err != nil {
		return unavailable(err)
	}
	latest, err := s.latestVersion()
	if err != nil {
		return err
	}
	if version < latest {
		return fault.New(fault.Unavailable, "The database lacks migrations. Run 'gluepot migrate up'.")
	}
	return nil
}

// schemaCurrent reports whether the schema is the one this program was made for. A newer one is an error.
func (s *Store) schemaCurrent(ctx context.Context) (bool, error) {
	latest, err := s.latestVersion()
	if err != nil {
		return false, err
	}
	version, err := s.version(ctx)
	if err != nil {
		return false, nil //nolint:nilerr // most likely a new database; if not, migrating tells
	}
	if version > latest {
		return false, fault.New(fault.Conflict, fmt.Sprintf(
			"The database is at version %d, but this program knows versions up to %d only. Run a newer gluepot.", version, latest))
	}
	return version == latest, nil
}

func (s *Store) version(ctx context.Context) (int64, error) {
	var version int64
	err := s.sql.QueryRowContext(ctx, s.queries.schemaVersion).Scan(&version)
	return version, err
}

func (s *Store) latestVersion() (int64, error) {
	entries, err := fs.ReadDir(migrationFiles, s.migrations.folder)
	if err != nil || len(entries) == 0 {
		return 0, fmt.Errorf("read the embedded migrations: %w", err)
	}
	return goose.NumericComponent(entries[len(entries)-1].Name())
}

func (s *Store) migrationProvider() (*goose.Provider, error) {
	files, err := fs.Sub(migrationFiles, s.migrations.folder)
	if err != nil {
		return nil, err
	}
	options := []goose.ProviderOption{goose.WithTableName(migrationsTable), goose.WithDisableGlobalRegistry(true)}
	if s.sqlitePath != "" {
		options = append(options, goose.WithLocker(&sqliteLock{path: s.sqlitePath + "-migrating"}))
	} else {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationLockID), lock.WithLockTimeout(1, migrationLockWait))
		if err != nil {
			return nil, err
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(s.migrations.dialect, s.sql, files, options...)
}

// sqliteLock is held by whichever process has an exclusive transaction on an otherwise empty database
// file beside the real one. The operating system releases it when the process ends, however it ends.
type sqliteLock struct {
	path string
	db   *sql.DB
}

func (l *sqliteLock) Lock(ctx context.Context, _ *sql.DB) error {
	connector, err := newSQLiteConnector(l.path, sqliteFile(l.path), migrationLockWait*time.Second)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		_ = db.Close()
		return fmt.Errorf("wait for another process to finish its migrations: %w", err)
	}
	l.db = db
	return nil
}

func (l *sqliteLock) Unlock(context.Context, *sql.DB) error { return l.db.Close() }
