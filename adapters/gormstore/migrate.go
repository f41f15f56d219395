package gormstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
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

// ErrOutdated is what Ready returns for a database that lacks migrations which this program needs.
var ErrOutdated = fault.New(fault.Unavailable, messageOutdated)

// Schema says how the tables of a database and this program fit.
type Schema struct {
	Version    int64 // the newest migration that the database has; 0: none
	Latest     int64 // the newest migration that this program knows
	Oldest     int64 // programs must know this migration to work with the database; 0: it does not say
	Migrations []Migration
}

// Usable returns nil when this program can work with the database: it has every migration that the program needs, and either none
// that is newer, or says itself that the program can live with those (decision 0018).
// It fails with fault.Unavailable, and with ErrOutdated when migrating would help.
func (s Schema) Usable() error {
	if s.Version > s.Latest && s.Oldest != 0 && s.Oldest <= s.Latest {
		return nil
	}
	return s.Same()
}

// Same returns nil when the database has exactly the migrations that this program knows. It fails with fault.Unavailable.
func (s Schema) Same() error {
	switch {
	case s.Version < s.Latest:
		return ErrOutdated
	case s.Version > s.Latest:
		return fault.New(fault.Unavailable, fmt.Sprintf(
			"The database is at version %d, but this program knows versions up to %d only. Run a newer gluepot.", s.Version, s.Latest))
	}
	return nil
}

// BringUpToDate creates the database if need be, connects to it, and applies every migration that it lacks: see Create, Connect and
// Migrate.
func (s *Store) BringUpToDate(ctx context.Context) error {
	if err := s.Create(); err != nil {
		return err
	}
	if err := s.Connect(ctx); err != nil {
		return err
	}
	return s.Migrate(ctx)
}

// Migrate brings the schema up to date. Nodes that start at once wait for each other.
// A database that a newer program has migrated stays as it is; unless it says that this program can live with it, that is an error.
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.Ready(ctx); !errors.Is(err, ErrOutdated) {
		return err
	}
	if err := s.restoreIndexes(ctx); err != nil {
		return err
	}
	provider, err := s.migrationProvider()
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", translate(err))
	}
	return s.Ready(ctx) // another node may be newer than this one
}

// Ready returns nil when the database answers and this program can work with its schema. It may be a newer one: during a rolling
// update the nodes of the older version go on serving, and can start again.
// It fails with fault.Unavailable, and with ErrOutdated when migrating would help.
func (s *Store) Ready(ctx context.Context) error {
	if s.file != nil {
		if err := s.file.check(); err != nil {
			return err
		}
	}
	schema, err := s.schemaVersions(ctx)
	if err != nil {
		return err
	}
	return schema.Usable()
}

// Schema reads the state of the schema and lists every migration that this program knows, in order. It changes nothing.
func (s *Store) Schema(ctx context.Context) (Schema, error) {
	schema, err := s.schemaVersions(ctx)
	if err != nil {
		return Schema{}, err
	}
	provider, err := s.migrationProvider()
	if err != nil {
		return Schema{}, err
	}
	applied, err := s.appliedMigrations(ctx)
	if err != nil {
		return Schema{}, err
	}
	for _, source := range provider.ListSources() {
		schema.Migrations = append(schema.Migrations, Migration{Version: source.Version, File: source.Path,
			AppliedAt: applied[source.Version]})
	}
	if schema.Oldest, err = s.oldestVersion(ctx); err != nil {
		return Schema{}, err
	}
	return schema, nil
}

// schemaVersions reads what Usable needs to know.
func (s *Store) schemaVersions(ctx context.Context) (schema Schema, err error) {
	if schema.Latest, err = s.latestVersion(); err != nil {
		return Schema{}, err
	}
	err = s.readiness.QueryRowContext(ctx, s.queries.schemaVersion).Scan(&schema.Version)
	if err != nil && diagnose(err) != outdated { // without the table it has never been migrated
		return Schema{}, unreadable(err)
	}
	if schema.Version > schema.Latest {
		schema.Oldest, err = s.oldestVersion(ctx)
		return schema, err
	}
	return schema, nil
}

// oldestVersion returns 0 when the database does not say, as those from before version 3 do not.
func (s *Store) oldestVersion(ctx context.Context) (version int64, err error) {
	err = s.readiness.QueryRowContext(ctx, s.queries.oldestVersion).Scan(&version)
	if err != nil && diagnose(err) != outdated && !errors.Is(err, sql.ErrNoRows) {
		return 0, unreadable(err)
	}
	return version, nil
}

func (s *Store) appliedMigrations(ctx context.Context) (map[int64]time.Time, error) {
	applied := make(map[int64]time.Time)
	rows, err := s.readiness.QueryContext(ctx, s.queries.appliedVersions)
	if err != nil && diagnose(err) == outdated {
		return applied, nil
	}
	if err != nil {
		return nil, unreadable(err)
	}
	defer rows.Close() //nolint:errcheck // Err says it
	for rows.Next() {
		var (
			version int64
			at      time.Time
		)
		if err := rows.Scan(&version, &at); err != nil {
			return nil, err
		}
		applied[version] = at
	}
	if err := rows.Err(); err != nil {
		return nil, unreadable(err)
	}
	return applied, nil
}

// unreadable translates an error of statements so simple that only the database can be at fault.
func unreadable(err error) error {
	if err = translate(err); fault.Is(err, fault.Unavailable) {
		return err
	}
	return unavailable(err)
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
	if s.file != nil {
		options = append(options, goose.WithLocker(&sqliteLock{file: s.file}))
	} else {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationLockID), lock.WithLockTimeout(1, migrationLockWait))
		if err != nil {
			return nil, err
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(s.migrations.dialect, s.sql.DB, files, options...)
}

// sqliteLock is held by whichever process has an exclusive transaction on an otherwise empty database
// file beside the real one. The operating system releases it when the process ends, however it ends.
type sqliteLock struct {
	file *sqliteFile
	db   *sql.DB
}

func (l *sqliteLock) Lock(ctx context.Context, _ *sql.DB) error {
	path, err := l.file.beside("-migrating")
	if err != nil {
		return err
	}
	if err := createPrivate(path); err != nil {
		return err
	}
	connector, err := newSQLiteConnector(path, sqliteURI(path)+"?mode=rw", Config{ConnectTimeout: migrationLockWait * time.Second})
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
