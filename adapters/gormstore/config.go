package gormstore

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Config says which database to use and how.
type Config struct {
	// URL is postgres://… (any connection string of that form that libpq knows) or sqlite://PATH, with
	// PATH relative to the working directory or, after a third slash, absolute.
	URL URL
	// URLSetting is what URL was read from, for messages about it. Default: GLUEPOT_DATABASE_URL.
	URLSetting string `json:"-"`
	// ReplicaURLs are read-only copies of a PostgreSQL database. Public profiles are read from those that
	// are reachable and no more than ReplicaMaxLag behind, and so can be that old; everything else is read
	// from the database itself. Default: none.
	ReplicaURLs   []URL
	ReplicaMaxLag time.Duration
	// MaxConnections is the size of the connection pool, and of that to each replica. SQLite uses at most 4. Each has one
	// connection more, for readiness and for following the replicas. Lists, counts and writes never have all of a pool
	// of two or more (decision 0019).
	MaxConnections int
	// ConnectTimeout bounds one attempt to connect to PostgreSQL, and the wait for somebody else's lock on an SQLite
	// file; a request's own deadline bounds both, too.
	ConnectTimeout time.Duration
	// ConnectionMaxLifetime is how old a connection to PostgreSQL, or to what stands before it, may become: some time in the last
	// fifth of it, another takes its place, which finds a primary that has moved, or uses a password that is new. 0: as old as it
	// likes.
	ConnectionMaxLifetime time.Duration
	// Reread is called before each connection to PostgreSQL is opened, by several at once, and returns URL and ReplicaURLs as
	// they are now: their passwords may have changed, and nothing else of them is looked at. When it fails, the passwords are those of URL
	// and ReplicaURLs. Default: nil, those stay.
	Reread func() (database URL, replicas []URL, err error) `json:"-"`
	// SlowStatement is how long a statement may take before OnSlowStatement is called with it; 0: it never is.
	SlowStatement time.Duration
	// OnSlowStatement is called after each slow statement, by whoever ran it and by several at once, who wait for its
	// return. It must not ask the store. Default: nil, nobody is told.
	OnSlowStatement func(Statement) `json:"-"`
	// Tracer follows all statements. Default: nil, nobody does.
	Tracer StatementTracer `json:"-"`
}

// DefaultConfig returns an embedded store below the working directory.
func DefaultConfig() Config {
	return Config{
		URL: "sqlite://data/gluepot.db", ReplicaMaxLag: time.Second, MaxConnections: 8, ConnectTimeout: 3 * time.Second,
		ConnectionMaxLifetime: 30 * time.Minute, SlowStatement: 500 * time.Millisecond,
	}
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	var wrong []error
	if err := c.URL.validate(); err != nil {
		wrong = append(wrong, err)
	}
	for i, replica := range c.ReplicaURLs {
		err := replica.validate()
		if !replica.isPostgres() || !c.URL.isPostgres() {
			err = errors.New("replicas are postgres:// URLs beside a postgres:// database URL")
		}
		if err != nil { // by its position: what is not understood may be a password in any part
			wrong = append(wrong, fmt.Errorf("the %s of GLUEPOT_DATABASE_REPLICA_URLS cannot be used: %w", ordinal(i+1), err))
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
	if c.ConnectionMaxLifetime < 0 {
		wrong = append(wrong, fmt.Errorf("the greatest age of a database connection is %v: choose zero or a positive time",
			c.ConnectionMaxLifetime))
	}
	if c.SlowStatement < 0 {
		wrong = append(wrong, fmt.Errorf("the time of a slow statement is %v: choose zero or a positive time", c.SlowStatement))
	}
	return errors.Join(wrong...)
}

const defaultURLSetting = "GLUEPOT_DATABASE_URL"

func (c Config) urlSetting() string { return cmp.Or(c.URLSetting, defaultURLSetting) }

// rereadURL returns what reads the database's URL again, or nil.
func (c Config) rereadURL() func() (URL, error) {
	if c.Reread == nil {
		return nil
	}
	return func() (URL, error) {
		url, _, err := c.Reread()
		return url, err
	}
}

// rereadReplicaURL returns what reads a replica's URL again, or nil.
func (c Config) rereadReplicaURL(i int) func() (URL, error) {
	if c.Reread == nil {
		return nil
	}
	return func() (URL, error) {
		_, urls, err := c.Reread()
		if err == nil && i >= len(urls) {
			err = errors.New("there are fewer replicas than before")
		}
		if err != nil {
			return "", err
		}
		return urls[i], nil
	}
}
