// Package gormstore keeps users, tokens and pastes in PostgreSQL or SQLite.
//
// It is built on GORM: what creates, changes, lists and imports goes through it. The reads that requests wait for are
// fixed SQL on the same connection pool (queries.go, read.go), and so are the few statements that GORM cannot say. Lookups
// that wait at the same moment are merged by a batching dataloader, also known as a coalescer (dataloader.go). The schema
// comes from the versioned migrations of each database.
package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gluepot/gluepot/domain/fault"
)

// maxSQLiteConnections is where more readers stop helping: SQLite has one writer anyway.
const maxSQLiteConnections = 4

// Store is a database. Build it with New, and call Connect before anything else.
type Store struct {
	sql        *pool
	readiness  *sql.DB // one connection that nothing else can take: Ready's, and the replicas' watcher's
	gorm       *gorm.DB
	queries    *queries
	primary    *target // nil for SQLite
	replicas   *replicas
	batches    batches
	migrations migrationSource
	statements sync.Map // text -> *sql.Stmt, see prepared; closed with the pool
	clock      clock    // SQLite's
	url        URL
	urlSetting string      // see Config.URLSetting
	file       *sqliteFile // nil for PostgreSQL
}

// New returns a store for the database that cfg names, without touching it.
// It fails when cfg is not valid.
func New(cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if path, ok := cfg.URL.sqlitePath(); ok {
		path, err := filepath.Abs(path) // a process that changes its folder keeps its database
		if err != nil {
			return nil, err
		}
		file, err := newSQLiteFile(path, cfg)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", cfg.URL, err)
		}
		connections := newPool(sql.OpenDB(file), min(cfg.MaxConnections, maxSQLiteConnections), true)
		return newStore(cfg, connections, sql.OpenDB(file), sqliteDialector{pool: gormPool{connections}}, &Store{
			replicas: &replicas{}, url: cfg.URL, queries: &sqliteQueries, migrations: sqliteMigrations, file: file,
		})
	}
	primary, err := newTarget(cfg, cfg.rereadURL(), &lineage{members: make(map[*pgconn.PgConn]struct{})})
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	copies, err := newReplicas(cfg)
	if err != nil {
		return nil, fmt.Errorf("read the replica URLs: %w", err)
	}
	connections := newPool(primary.open(), cfg.MaxConnections, false)
	return newStore(cfg, connections, primary.open(), postgres.New(postgres.Config{Conn: gormPool{connections}}), &Store{
		primary: primary, replicas: copies, url: cfg.URL, queries: &postgresQueries, migrations: postgresMigrations,
	})
}

func newStore(cfg Config, connections *pool, readiness *sql.DB, dialector gorm.Dialector, store *Store) (*Store, error) {
	orm, err := gorm.Open(dialector, &gorm.Config{
		DisableAutomaticPing:   true,
		QueryFields:            true, // never *: PostgreSQL refuses to go on with it once a newer node has added a column
		SkipDefaultTransaction: true, // whatever writes more than one statement says so itself
		Logger:                 logger.Discard,
	})
	if err != nil {
		return nil, fmt.Errorf("initialise GORM: %w", err)
	}
	readiness.SetMaxOpenConns(1)
	store.sql, store.readiness, store.gorm = connections, readiness, orm
	store.clock = time.Now
	store.urlSetting = cfg.urlSetting()
	store.batches.tell(cfg.Tracer)
	return store, nil
}

// postgresConfig reads a postgres:// URL. Its own connect_timeout wins over the configured one.
func postgresConfig(cfg Config) (*pgx.ConnConfig, error) {
	parsed, err := cfg.URL.parsePostgres()
	if err != nil {
		return nil, err
	}
	if parsed.ConnectTimeout == 0 {
		parsed.ConnectTimeout = cfg.ConnectTimeout
	}
	if _, ok := parsed.RuntimeParams["application_name"]; !ok {
		parsed.RuntimeParams["application_name"] = "gluepot"
	}
	parsed.Tracer = postgresTracer(cfg)
	return parsed, nil
}

// sqliteDSN puts the pragmas where every pooled connection gets them. Readers and the writer do not
// block each other (WAL), a commit survives a power cut (FULL), and transactions take the write lock
// at once, because one that takes it late can fail without having waited.
func sqliteDSN(path string) string {
	options := url.Values{
		"mode": {"rw"}, // never creates the file
		"_pragma": {
			"busy_timeout(0)", // see sqliteConnector
			"journal_mode(WAL)",
			"synchronous(FULL)",
			"foreign_keys(1)",
		},
		"_txlock":              {"immediate"},
		"_inttotime":           {"1"},
		"_time_integer_format": {"unix_micro"},
	}
	return sqliteURI(path) + "?" + options.Encode()
}

func sqliteURI(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

// Create makes the file of an SQLite database and its folder, for their owner only, unless they are there. On
// PostgreSQL it does nothing. It fails with fault.Unavailable.
func (s *Store) Create() error {
	if s.file == nil {
		return nil
	}
	return s.file.create()
}

// Connect makes sure that the database is there and answers, and begins to follow its replicas, whether they do or
// not. It creates nothing. A second call only looks again. It fails with fault.Unavailable.
func (s *Store) Connect(ctx context.Context) error {
	if s.primary != nil {
		s.primary.lineage.watch(ctx, s.primary)
	}
	for _, db := range []*sql.DB{s.sql.DB, s.readiness} {
		if err := db.PingContext(ctx); err != nil {
			return s.connectError(err)
		}
	}
	if s.file != nil && s.file.stop == nil {
		if err := s.file.open(ctx, s.sql.DB); err != nil {
			return s.connectError(err)
		}
		s.file.watch()
	}
	s.replicas.watch(s.readiness)
	return nil
}

func (s *Store) connectError(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	switch diagnose(err) {
	case noRoom, noRight:
		return translate(err)
	case damaged:
		return fault.Wrap(fault.Unavailable, fmt.Sprintf("The file %s is damaged, or no database. Check %s.", s.url, s.urlSetting), err)
	case forbidden:
		return fault.Wrap(fault.Unavailable, fmt.Sprintf(
			"Cannot open the database %s. Check that it is a file that this user may write, in a folder where this user may make files.",
			s.url), err)
	}
	return fault.Wrap(fault.Unavailable, fmt.Sprintf(
		"Cannot reach the database %s. Check that it runs and that %s is right.", s.url, s.urlSetting), err)
}

// Close closes all connections, after the statements that are under way.
func (s *Store) Close() error {
	s.replicas.close()
	if s.primary != nil {
		s.primary.lineage.close()
	}
	if s.file != nil {
		s.file.close()
	}
	return errors.Join(s.sql.Close(), s.readiness.Close())
}
