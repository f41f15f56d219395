// Package db opens PostgreSQL and SQLite for package gormstore: URLs, migrations, transactions, and drivers' errors.
// The differences between the databases are in dialect.go.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pressly/goose/v3"
	"golang.org/x/sync/semaphore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gluepot/gluepot/adapters/gormstore/sqlitefile"
	"github.com/gluepot/gluepot/domain/fault"
)

// Store is a database. Build it with New, and call Connect before anything else.
type Store struct {
	cfg     Config
	dialect *Dialect
	reader  *gorm.DB
	writer  *gorm.DB // on SQLite a single connection; on PostgreSQL the same as reader
	pools   []*sql.DB
	pgx     *pgxpool.Pool       // nil for SQLite
	file    *sqlitefile.Watcher // watches nothing on PostgreSQL
	purge   sqlitefile.Purge    // of an SQLite index

	together    transaction            // see WriteTogether
	lockOptions []goose.ProviderOption // of migrations

	// Work on pastes may use half of the connections, and slow work (lists, searches, counts, imports) a quarter. So
	// neither a lock on pastes nor long lists take the connections for users and tokens.
	Pastes, Slow *semaphore.Weighted
	pasteWrites  *semaphore.Weighted // Pastes on PostgreSQL; unbounded on SQLite, which has one writing connection
	turns        *semaphore.Weighted // of administrators; unbounded on SQLite for the same reason
}

// New returns a store for the database that cfg names, without touching it.
// It fails when cfg is not valid.
func New(cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := &Store{cfg: cfg, file: &sqlitefile.Watcher{}}
	open := s.openPostgres
	if URL(cfg.URL).isSQLite() {
		open, s.cfg.MaxConnections = s.openSQLite, min(cfg.MaxConnections, maxSQLiteReaders)
	}
	half := max(1, s.cfg.MaxConnections/2)
	s.Pastes, s.Slow = semaphore.NewWeighted(int64(half)), semaphore.NewWeighted(int64(max(1, half/2)))
	s.pasteWrites, s.turns = s.Pastes, semaphore.NewWeighted(1)
	if err := open(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) openGORM(dialector gorm.Dialector) (*gorm.DB, error) {
	db, err := gorm.Open(dialector, &gorm.Config{
		DisableAutomaticPing:   true,
		QueryFields:            true, // never *: prepared, it fails on PostgreSQL once a newer node has added a column
		SkipDefaultTransaction: true, // Store.Transaction begins them
		Logger:                 slowLog{logger.Discard, s.cfg.SlowStatement, s.cfg.OnSlowStatement},
	})
	if err != nil {
		return nil, fmt.Errorf("initialise GORM: %w", err)
	}
	return db, nil
}

// Pool returns the connections to PostgreSQL, and nil for SQLite. Close closes them.
func (s *Store) Pool() *pgxpool.Pool { return s.pgx }

// Dialect returns the statements that are particular to this database.
func (s *Store) Dialect() *Dialect { return s.dialect }

// KeepsSearch reports whether writes store the searchable text of pastes.
func (s *Store) KeepsSearch() bool { return s.cfg.Search }

// Create makes the file of an SQLite database and its folder, for their owner only, unless they exist. On PostgreSQL it
// does nothing. It fails with fault.Unavailable, and with fault.Conflict when there is a log of a file that is gone.
func (s *Store) Create(ctx context.Context) error {
	if s.file.Path() == "" {
		return nil
	}
	err := sqlitefile.Create(ctx, s.file.Path())
	switch {
	case err == nil || fault.Is(err, fault.Conflict):
		return err
	case sqlitefile.IsFull(err):
		return Translate(err)
	}
	return fault.Wrap(fault.Unavailable, fmt.Sprintf("Cannot create the database %s. Check %s.", URL(s.cfg.URL),
		s.cfg.urlSetting()), err)
}

// Connect checks that the database exists, answers and is not another program's. It creates nothing, and may be called
// again. It fails with fault.Unavailable, and with fault.Conflict for the database of another program, which it leaves
// as it is.
func (s *Store) Connect(ctx context.Context) error {
	return s.connectError(s.file.Open(func() error {
		if err := s.checkForeign(ctx); err != nil {
			return err
		}
		for _, pool := range s.pools {
			if err := pool.PingContext(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (s *Store) connectError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, errNoPrimary) {
		return errStandby
	}
	url, setting := URL(s.cfg.URL), s.cfg.urlSetting()
	switch diagnose(err) {
	case errFull, errNoPrivilege:
		return Translate(err)
	case errDamaged:
		return fault.Wrap(fault.Unavailable, fmt.Sprintf("The file %s is damaged, or not a database. Check %s.",
			url, setting), err)
	case errCannotOpen:
		return fault.Wrap(fault.Unavailable, fmt.Sprintf(
			"Cannot open the database %s. Check that %s names a file that this user may write, "+
				"in a folder where this user may create files.",
			url, setting), err)
	}
	return fault.Wrap(fault.Unavailable, fmt.Sprintf(
		"Cannot reach the database %s. Check that it runs and that %s is right.", url, setting), err)
}

// Analyze updates the statistics of tables after an import or a copy. By itself, PostgreSQL does so only after minutes.
// Until then it compiles the statement of each look-up of a paste (JIT), which takes 0.3 s. Analyze ignores errors,
// because nothing depends on it.
func (s *Store) Analyze(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s.reader.WithContext(ctx).Exec(s.dialect.analyze) // a store that refuses writes has no writer
}

// Close waits for running statements and closes all connections.
func (s *Store) Close() error {
	if !s.file.Close() {
		// Leave the connections open until the process ends: the last one to close would remove the log of the new database.
		return nil
	}
	var errs []error
	for _, pool := range s.pools {
		errs = append(errs, pool.Close())
	}
	if s.pgx != nil {
		s.pgx.Close()
	}
	return errors.Join(errs...)
}

// Statistics returns the state of the connection pools.
func (s *Store) Statistics() (sum sql.DBStats) {
	if s.pgx != nil {
		stat := s.pgx.Stat()
		return sql.DBStats{
			MaxOpenConnections: int(stat.MaxConns()), OpenConnections: int(stat.TotalConns()), InUse: int(stat.AcquiredConns()),
			Idle: int(stat.IdleConns()), WaitCount: stat.EmptyAcquireCount(), WaitDuration: stat.EmptyAcquireWaitTime(),
		}
	}
	for _, pool := range s.pools {
		stat := pool.Stats()
		sum.MaxOpenConnections += stat.MaxOpenConnections
		sum.OpenConnections += stat.OpenConnections
		sum.InUse += stat.InUse
		sum.Idle += stat.Idle
		sum.WaitCount += stat.WaitCount
		sum.WaitDuration += stat.WaitDuration
	}
	return sum
}

// Statement is a slow statement, without its arguments: they may be secrets.
type Statement struct {
	SQL      string
	Rows     int64 // returned or changed; -1: unknown
	Duration time.Duration
}

// slowLog is GORM's logger. It reports only slow statements: errors are returned, and the caller logs them.
type slowLog struct {
	logger.Interface

	threshold time.Duration
	report    func(Statement)
}

// Trace implements logger.Interface.
func (l slowLog) Trace(_ context.Context, begin time.Time, statement func() (string, int64), _ error) {
	if l.report == nil || l.threshold == 0 {
		return
	}
	if took := time.Since(begin); took >= l.threshold {
		sql, rows := statement()
		l.report(Statement{SQL: sql, Rows: rows, Duration: took})
	}
}

// ParamsFilter implements gorm.ParamsFilter: Trace gets no arguments.
func (slowLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) { return sql, nil }
