package connection

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says which database to use and how.
type Config struct {
	// URL is postgres://… (any connection string of that form that libpq knows) or sqlite://PATH, with
	// PATH relative to the working directory or, after a third slash, absolute. Of PostgreSQL it must be the primary.
	URL URL
	// URLSetting is what URL was read from, for messages about it. Default: GLUEPOT_DATABASE_URL.
	URLSetting string `json:"-"`
	// Standby also accepts a standby of PostgreSQL, whose answers must not decide a write.
	Standby bool `json:"-"`
	// ReadOnly opens an SQLite file without changing it. Such a store can only be read.
	ReadOnly bool `json:"-"`
	// RefuseWrites makes everything fail that would change the database, for a server that only reads.
	RefuseWrites bool `json:"-"`
	// Search keeps what searches look through, in the transactions that write pastes. Without it Search finds nothing.
	Search bool
	// MaxConnections is the size of the connection pool. SQLite uses at most 4 for reading, and one for writing.
	MaxConnections int
	// ConnectTimeout bounds one attempt to connect to PostgreSQL, and the wait for another process's lock on an SQLite
	// file; a request's own deadline bounds both, too, except while a connection to an SQLite file is being opened.
	ConnectTimeout time.Duration
	// ConnectionMaxLifetime is how old a connection to PostgreSQL may become before another takes its place, which finds a
	// primary that has moved, or uses a password that is new. 0: any age.
	ConnectionMaxLifetime time.Duration
	// Reread is called before each connection to PostgreSQL is opened, and returns URL as it is now: its password may have
	// changed, and nothing else of it is looked at. When it fails, the password is that of URL. Default: nil, that stays.
	Reread func() (URL, error) `json:"-"`
	// SlowStatement is how long a statement of GORM's may take before OnSlowStatement is called with it; 0: it never is.
	SlowStatement time.Duration
	// OnSlowStatement is called after each slow statement, by several goroutines at once, which wait for its return. It must not
	// ask the store. Default: nil.
	OnSlowStatement func(Statement) `json:"-"`
	// Tracer sees each statement on PostgreSQL. Default: nil.
	Tracer pgx.QueryTracer `json:"-"`
}

// DefaultConfig returns an embedded store below the working directory.
func DefaultConfig() Config {
	return Config{
		URL: "sqlite://data/gluepot.db", Search: true, MaxConnections: 8, ConnectTimeout: 3 * time.Second,
		ConnectionMaxLifetime: 30 * time.Minute, SlowStatement: 500 * time.Millisecond,
	}
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	var wrong []error
	if err := c.URL.Validate(); err != nil {
		wrong = append(wrong, err)
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

func (c Config) urlSetting() string { return cmp.Or(c.URLSetting, defaultSetting) }

const defaultSetting = "GLUEPOT_DATABASE_URL"
