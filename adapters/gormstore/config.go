package gormstore

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Config says which database to use and how.
type Config struct {
	// URL is postgres://… (any connection string of that form that libpq knows) or sqlite://PATH, with
	// PATH relative to the working directory or, after a third slash, absolute.
	URL URL
	// ReplicaURLs are read-only copies of a PostgreSQL database. Public profiles are read from those that
	// are reachable and no more than ReplicaMaxLag behind, and so can be that old; everything else is read
	// from the database itself. Default: none.
	ReplicaURLs   []URL
	ReplicaMaxLag time.Duration
	// MaxConnections is the size of the connection pool, and of that to each replica. SQLite uses at most 4.
	MaxConnections int
	// ConnectTimeout bounds one attempt to connect to PostgreSQL, and the wait for somebody else's lock on an SQLite
	// file; a request's own deadline bounds both, too.
	ConnectTimeout time.Duration
}

// DefaultConfig returns an embedded store below the working directory.
func DefaultConfig() Config {
	return Config{URL: "sqlite://data/gluepot.db", ReplicaMaxLag: time.Second, MaxConnections: 8, ConnectTimeout: 3 * time.Second}
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	var wrong []error
	if err := c.URL.validate(); err != nil {
		wrong = append(wrong, err)
	}
	for _, replica := range c.ReplicaURLs {
		if !replica.isPostgres() || !c.URL.isPostgres() || replica.validate() != nil {
			wrong = append(wrong, fmt.Errorf("the replica %s cannot be used: replicas are postgres:// URLs beside a postgres:// database URL", replica))
		}
	}
	if c.ReplicaMaxLag < 10*time.Millisecond {
		wrong = append(wrong, fmt.Errorf("the greatest lag of a replica is %v: choose at least 10ms", c.ReplicaMaxLag))
	}
	if c.MaxConnections < 1 || c.MaxConnections > 1000 {
		wrong = append(wrong, fmt.Errorf("the number of database connections is %d: choose 1 to 1000", c.MaxConnections))
	}
	if c.ConnectTimeout < time.Millisecond {
		wrong = append(wrong, fmt.Errorf("the database connect timeout is %v: choose at least 1ms", c.ConnectTimeout))
	}
	return errors.Join(wrong...)
}

// URL is a database URL. It may hold a password, so it prints without one.
type URL string

// String returns the URL with the password replaced.
func (u URL) String() string {
	parsed, err := url.Parse(string(u))
	if err != nil {
		return "[unreadable database URL]"
	}
	if parsed.Query().Has("password") {
		query := parsed.Query()
		query.Set("password", "xxxxx")
		parsed.RawQuery = query.Encode()
	}
	return parsed.Redacted()
}

// GoString returns what String does.
func (u URL) GoString() string { return u.String() }

// MarshalText returns what String does.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

func (u URL) validate() error {
	if _, ok := u.sqlitePath(); ok {
		return nil
	}
	if !u.isPostgres() {
		return errors.New("the database URL is neither postgres://USER:PASSWORD@HOST/DATABASE nor sqlite://PATH")
	}
	if _, err := postgresConfig(Config{URL: u, ConnectTimeout: time.Second}); err != nil {
		return errors.New("the database URL is not one that PostgreSQL clients understand: write postgres://USER:PASSWORD@HOST/DATABASE")
	}
	return nil
}

func (u URL) isPostgres() bool {
	return strings.HasPrefix(string(u), "postgres://") || strings.HasPrefix(string(u), "postgresql://")
}

// sqlitePath returns the path of an sqlite:// URL. The path is taken as it is, without escapes.
func (u URL) sqlitePath() (string, bool) {
	path, ok := strings.CutPrefix(string(u), "sqlite://")
	if !ok || path == "" || strings.ContainsRune(path, 0) || strings.HasSuffix(path, "/") {
		return "", false
	}
	return filepath.Clean(path), true
}
