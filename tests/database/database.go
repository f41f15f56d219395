// Package database gives tests databases of their own, on PostgreSQL and on SQLite.
//
// A package that uses it calls Main from its TestMain. docs/TESTING.md says how each process gets its PostgreSQL
// server.
package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// zone is the time zone of every PostgreSQL database. It is no whole number of hours from UTC, to reveal code that
// takes local time for UTC.
const zone = "Asia/Kathmandu"

// setupTime bounds everything but the start of the server.
const setupTime = time.Minute

// Main runs a package's tests and stops what they started. Use it as os.Exit(database.Main(m)).
func Main(m *testing.M) int {
	defer func() {
		if shared.stop != nil {
			shared.stop()
		}
	}()
	return m.Run()
}

// Each runs test once on each database, in parallel.
func Each(t *testing.T, test func(t *testing.T, cfg gormstore.Config)) {
	t.Helper()
	for name, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": Postgres, "sqlite": SQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, provide(t))
		})
	}
}

// CreateUser stores a user without credentials.
func CreateUser(t testing.TB, store *gormstore.Store, created user.User) {
	t.Helper()
	err := gormstore.NewIdentities(store).Enroll(t.Context(), netip.Addr{}, auditlog.Entry{}, created,
		identity.Credentials{}, identity.Admission{})
	if err != nil {
		t.Fatal(err)
	}
}

// shared is the process's PostgreSQL server, with a migrated database that tests get copies of.
var shared struct {
	once     sync.Once
	err      error
	report   sync.Once // reports err once for all tests
	admin    *sql.DB
	url      *url.URL
	template string
	stop     func()
	cloning  sync.Mutex // a template cannot be copied while another session uses it
}

// Postgres returns the configuration of a migrated, empty database. It is dropped after the test. If the test failed on
// a server that outlives it, the database is kept and its URL printed.
func Postgres(tb testing.TB) gormstore.Config {
	tb.Helper()
	return postgres(tb, true)
}

// EmptyPostgres is like Postgres, but the database has no tables.
func EmptyPostgres(tb testing.TB) gormstore.Config {
	tb.Helper()
	return postgres(tb, false)
}

// WithParameter returns a PostgreSQL configuration with a parameter set in its URL.
func WithParameter(tb testing.TB, cfg gormstore.Config, name, value string) gormstore.Config {
	tb.Helper()
	database, err := url.Parse(cfg.URL)
	if err != nil {
		tb.Fatal(err)
	}
	query := database.Query()
	query.Set(name, value)
	database.RawQuery = query.Encode()
	cfg.URL = database.String()
	return cfg
}

func postgres(tb testing.TB, migrated bool) gormstore.Config {
	tb.Helper()
	shared.once.Do(func() { shared.err = startShared() })
	if shared.err != nil {
		shared.report.Do(func() { tb.Error(shared.err) })
		tb.Fatal("got no PostgreSQL server (another test says why), want one")
	}
	name, template := newName(), "template0"
	if migrated {
		template = shared.template
	}
	if err := clone(tb.Context(), name, template); err != nil {
		tb.Fatal(err)
	}
	cfg := config(name)
	tb.Cleanup(func() {
		if tb.Failed() && os.Getenv(envURL) != "" && os.Getenv(envShared) == "" {
			tb.Logf("the database is kept: %s", cfg.URL)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), setupTime)
		defer cancel()
		if _, err := shared.admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			tb.Logf("drop %s: %v", name, err)
		}
	})
	return cfg
}

// SQLite returns the configuration of a migrated, empty database in the test's folder.
func SQLite(tb testing.TB) gormstore.Config {
	tb.Helper()
	content, err := sqliteTemplate()
	if err != nil {
		tb.Fatal(err)
	}
	cfg := EmptySQLite(tb)
	if err := os.WriteFile(SQLitePath(cfg), content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return cfg
}

// EmptySQLite returns the configuration of a database file that does not exist yet.
func EmptySQLite(tb testing.TB) gormstore.Config {
	tb.Helper()
	cfg := gormstore.DefaultConfig()
	cfg.URL = "sqlite://" + filepath.Join(tb.TempDir(), "gluepot.db")
	return cfg
}

// SQLitePath returns the file of an SQLite configuration.
func SQLitePath(cfg gormstore.Config) string { return strings.TrimPrefix(cfg.URL, "sqlite://") }

var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "gluepot-template-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	cfg := gormstore.DefaultConfig()
	cfg.URL = "sqlite://" + filepath.Join(folder, "template.db")
	if err := migrate(cfg); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(folder, "template.db"))
})

// Open returns a connected store that is closed after the test.
func Open(tb testing.TB, cfg gormstore.Config) *gormstore.Store {
	tb.Helper()
	store, err := gormstore.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	if err := store.Connect(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return store
}

// SQL returns a plain connection pool to the same database, as another program would use.
func SQL(tb testing.TB, cfg gormstore.Config) *sql.DB {
	tb.Helper()
	driver, dsn := "pgx", cfg.URL
	if strings.HasPrefix(dsn, "sqlite://") {
		driver, dsn = "sqlite", SQLitePath(cfg)+"?_pragma=busy_timeout(120000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// WantAnalyzed fails the test unless PostgreSQL's planner knows how many rows the tables have.
func WantAnalyzed(tb testing.TB, cfg gormstore.Config) {
	tb.Helper()
	if !gormstore.URL(cfg.URL).IsPostgres() {
		return
	}
	var tables int
	row := SQL(tb, cfg).QueryRowContext(tb.Context(), `SELECT count(*) FROM pg_class
		WHERE oid IN ('users'::regclass, 'pastes'::regclass, 'pasties'::regclass, 'paste_edits'::regclass) AND reltuples < 0`)
	if err := row.Scan(&tables); err != nil {
		tb.Fatal(err)
	}
	if tables > 0 {
		tb.Errorf("got %d tables without statistics, want none", tables)
	}
}

func startShared() error {
	server, stop, err := findServer(unsafeOptions)
	if err != nil {
		return err
	}
	shared.url, shared.template = server, newName()
	shared.admin, err = sql.Open("pgx", server.String())
	if err != nil {
		return err
	}
	shared.stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), setupTime)
		defer cancel()
		_, _ = shared.admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+shared.template+" WITH (FORCE)")
		_ = shared.admin.Close()
		stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTime)
	defer cancel()
	if err := clone(ctx, shared.template, "template0"); err != nil {
		return err
	}
	return migrate(config(shared.template))
}

func migrate(cfg gormstore.Config) error {
	store, err := gormstore.New(cfg)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // Migrate says what went wrong
	ctx, cancel := context.WithTimeout(context.Background(), setupTime)
	defer cancel()
	return store.BringUpToDate(ctx)
}

func clone(ctx context.Context, name, template string) error {
	shared.cloning.Lock()
	defer shared.cloning.Unlock()
	_, err := shared.admin.ExecContext(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s STRATEGY = FILE_COPY",
		name, template))
	if err == nil {
		_, err = shared.admin.ExecContext(ctx, fmt.Sprintf("ALTER DATABASE %s SET timezone TO '%s'", name, zone))
	}
	if err != nil {
		return fmt.Errorf("create a test database: %w", err)
	}
	return nil
}

func config(name string) gormstore.Config {
	database := *shared.url
	database.Path = "/" + name
	cfg := gormstore.DefaultConfig()
	cfg.URL = database.String()
	cfg.ConnectTimeout = 20 * time.Second // other tests keep the machine busy
	return cfg
}

func newName() string { return "gluepot_test_" + strings.ToLower(rand.Text()[:12]) }
