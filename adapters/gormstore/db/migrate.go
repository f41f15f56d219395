package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/fault"
)

//go:embed migrations
var migrationFiles embed.FS

const (
	migrationsTable = "gluepot_versions"
	schemaVersion   = "SELECT coalesce(max(version_id), 0) FROM " + migrationsTable
	// unreleasedTable had the migrations of versions before the first release.
	unreleasedTable = "gluepot_schema"
)

// Migration is one step of the schema and whether the database has it.
type Migration struct {
	Version   int64
	File      string
	AppliedAt time.Time // zero: pending
}

var (
	errUnreleased = fault.New(fault.Unavailable,
		"This database is from before Gluepot's first release, and this version cannot read it. Start with an empty "+
			"database, and import the data again.")
	errStandby = fault.New(fault.Unavailable,
		"The database server is a standby. Check that GLUEPOT_DATABASE_URL leads to the primary.")
	errClock = fault.New(fault.Unavailable,
		fmt.Sprintf("The clocks of this machine and of the database server differ by more than %v. "+
			"Synchronise both by NTP.", maxClockDifference))
	errCopying = fault.New(fault.Unavailable,
		"The database is the target of an unfinished copy. Run 'gluepot copy' again.")
)

// Schema says how the tables of a database and this program fit.
type Schema struct {
	Version    int64 // the newest migration that the database has; 0: none
	Latest     int64 // the newest migration that this program knows
	Oldest     int64 // programs must know this migration to work with the database; 0: it does not say
	Migrations []Migration
}

// Usable returns nil when this program can work with the database: no migration is missing, and any newer ones are
// compatible according to the database. It fails with fault.Unavailable, and with ErrOutdated when migrating would
// help.
func (s Schema) Usable() error {
	if s.Version > s.Latest && s.Oldest != 0 && s.Oldest <= s.Latest {
		return nil
	}
	return s.Same()
}

// Same returns nil when the database has exactly the migrations that this program knows. It fails with
// fault.Unavailable.
func (s Schema) Same() error {
	switch {
	case s.Version < s.Latest:
		return ErrOutdated
	case s.Version > s.Latest:
		return fault.New(fault.Unavailable, fmt.Sprintf(
			"The database is at version %d, but this program knows only versions up to %d. Run a newer gluepot.",
			s.Version, s.Latest))
	}
	return nil
}

// BringUpToDate calls Create, Connect and Migrate.
func (s *Store) BringUpToDate(ctx context.Context) error {
	if err := s.Create(ctx); err != nil {
		return err
	}
	if err := s.Connect(ctx); err != nil {
		return err
	}
	_, err := s.Migrate(ctx)
	return err
}

// Migrate applies pending migrations and returns how many. There may be concurrent calls. It fails for a database that
// a newer program has migrated, unless that is still compatible.
func (s *Store) Migrate(ctx context.Context) (applied int, err error) {
	if err := s.Ready(ctx); !errors.Is(err, ErrOutdated) {
		return 0, err
	}
	for attempt := 1; ; attempt++ {
		provider, err := s.migrationProvider()
		if err != nil {
			return 0, err
		}
		done, err := provider.Up(ctx)
		switch {
		case err == nil:
			return len(done), s.Ready(ctx) // a newer node may have migrated further
		case attempt == s.dialect.attempts || ctx.Err() != nil:
			return 0, fmt.Errorf("migrate the database: %w", Translate(err))
		}
	}
}

// maxClockDifference is how far the clock of this machine, which decides about tokens and new pastes, may be from the
// clock of the database, which decides about stored pastes.
const maxClockDifference = 5 * time.Second

// checkClock fails if the clocks differ so much that a new paste could be stored as expired, or an expired token could
// be accepted. The time that the database takes to answer does not count.
func (s *Store) checkClock(ctx context.Context) error {
	start := s.Clock()
	now, err := s.Time(s.Read(ctx))
	if err != nil {
		return Unreadable(err)
	}
	if now.Before(start.Add(-maxClockDifference)) || now.After(s.Clock().Add(maxClockDifference)) {
		return errClock
	}
	return nil
}

// Ready returns nil when the database answers, can be written to, and has a schema that this program can work with, and
// the clocks of both agree. The schema may be a newer one: during a rolling update, nodes of the older version go on
// serving, and can restart. It fails with fault.Unavailable, and with ErrOutdated when migrating would help.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.file.Check(); err != nil {
		return err
	}
	if !s.cfg.Standby {
		var standby bool
		if err := s.Read(ctx).Raw(s.dialect.standby).Scan(&standby).Error; err != nil {
			return Unreadable(err)
		}
		if standby {
			return errStandby
		}
		if err := s.checkClock(ctx); err != nil {
			return err
		}
	}
	schema, copying, err := s.schemaVersions(ctx)
	if err != nil {
		return err
	}
	if err := schema.Usable(); err != nil {
		return err
	}
	if copying {
		return errCopying
	}
	return nil
}

// Lag returns for how long a standby has not replayed what it should have, at most; 0 for a primary. It fails with
// fault.Unavailable.
func (s *Store) Lag(ctx context.Context) (time.Duration, error) {
	var seconds float64
	if err := s.Read(ctx).Raw(s.dialect.lag).Scan(&seconds).Error; err != nil {
		return 0, Unreadable(err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// Schema reads the state of the schema and lists every migration that this program knows, in order. It changes nothing.
func (s *Store) Schema(ctx context.Context) (Schema, error) {
	schema, _, err := s.schemaVersions(ctx)
	if err != nil {
		return Schema{}, err
	}
	provider, err := s.migrationProvider()
	if err != nil {
		return Schema{}, err
	}
	var rows []struct {
		VersionID int64
		Tstamp    time.Time
	}
	if err := s.Read(ctx).Table(migrationsTable).Select("version_id",
		"tstamp").Where("is_applied").Find(&rows).Error; err != nil &&
		diagnose(err) != ErrOutdated {
		return Schema{}, Unreadable(err)
	}
	applied := make(map[int64]time.Time, len(rows))
	for _, row := range rows {
		applied[row.VersionID] = row.Tstamp.UTC()
	}
	for _, source := range provider.ListSources() {
		schema.Migrations = append(schema.Migrations, Migration{
			Version: source.Version, File: source.Path, AppliedAt: applied[source.Version],
		})
	}
	return schema, nil
}

// schemaVersions reads the versions of the schema, and whether the database is an unfinished copy.
func (s *Store) schemaVersions(ctx context.Context) (schema Schema, copying bool, err error) {
	schema.Latest = s.dialect.latestVersion()
	err = s.Read(ctx).Raw(schemaVersion).Scan(&schema.Version).Error
	if err != nil && diagnose(err) != ErrOutdated { // without the table it has never been migrated
		return Schema{}, false, Unreadable(err)
	}
	if schema.Version == 0 {
		var count int64
		if s.Read(ctx).Table(unreleasedTable).Count(&count).Error == nil {
			return Schema{}, false, errUnreleased
		}
		return schema, false, nil
	}
	var row model.Installation
	if err := s.Read(ctx).Take(&row).Error; err != nil {
		if diagnose(err) == ErrOutdated || errors.Is(err, gorm.ErrRecordNotFound) {
			return schema, false, nil
		}
		return Schema{}, false, Unreadable(err)
	}
	schema.Oldest = row.OldestVersion
	return schema, row.CopyingFrom.Valid, nil
}

// Unreadable translates an error of a statement that can fail only because of the database: it is always
// fault.Unavailable.
func Unreadable(err error) error {
	if errors.Is(err, errNoPrimary) {
		return errStandby
	}
	if err = Translate(err); fault.Is(err, fault.Unavailable) {
		return err
	}
	return unavailable(err)
}

// latestVersion cannot fail: the migrations are part of the program.
func (d *Dialect) latestVersion() int64 {
	entries, _ := migrationFiles.ReadDir(d.migrations)
	version, _ := goose.NumericComponent(entries[len(entries)-1].Name())
	return version
}

func (s *Store) migrationProvider() (*goose.Provider, error) {
	files, err := fs.Sub(migrationFiles, s.dialect.migrations)
	if err != nil {
		return nil, err
	}
	options := []goose.ProviderOption{goose.WithTableName(migrationsTable), goose.WithDisableGlobalRegistry(true)}
	return goose.NewProvider(s.dialect.goose, s.pools[0], files, append(options, s.lockOptions...)...)
}
