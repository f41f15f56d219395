package db

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says which database to use and how.
type Config struct {
	// URL is postgres://… (any connection string of that form that libpq knows) or sqlite://PATH, with
	// PATH relative to the working directory or, after a third slash, absolute. On PostgreSQL it must lead to the primary.
	// A Config prints without the password; to print the URL alone, convert it to a URL.
	URL string
	// URLSetting names the source of URL in messages. Default: GLUEPOT_DATABASE_URL.
	URLSetting string `json:"-"`
	// Standby also accepts a standby of PostgreSQL. Its answers may be stale, and must not decide a write.
	Standby bool `json:"-"`
	// RefuseWrites makes every write fail, and opens an SQLite file without changing it.
	RefuseWrites bool `json:"-"`
	// Offline lets RefuseWrites read a file in a folder that cannot be written, as if no other process changed it. It is
	// for commands: a server would go on showing what was removed.
	Offline bool `json:"-"`
	// Search keeps the searchable text of pastes, in the transactions that write them. Without it Search finds nothing.
	Search bool
	// MaxConnections is the size of the connection pool. SQLite uses at most 4 for reading, and one for writing.
	MaxConnections int
	// ConnectTimeout bounds an attempt to connect to PostgreSQL, and the wait for another process's lock on an SQLite
	// file. A request's deadline may end both earlier, but not the opening of a connection to SQLite.
	ConnectTimeout time.Duration
	// ConnectionMaxLifetime is the greatest age of a connection to PostgreSQL. Its replacement finds a primary that has
	// moved, and uses a new password. 0: any age.
	ConnectionMaxLifetime time.Duration
	// Reread is called before each connection to PostgreSQL is opened, and returns the current URL. Only its password is
	// used; when Reread fails, the password of URL is used. Default: nil, the password stays.
	Reread func() (URL, error) `json:"-"`
	// SlowStatement is how long a statement of GORM's may take before OnSlowStatement is called; 0: it is never called.
	SlowStatement time.Duration
	// OnSlowStatement is called after each slow statement, concurrently, and delays its caller. It must not use the store.
	// Default: nil.
	OnSlowStatement func(Statement) `json:"-"`
	// Tracer sees each statement on PostgreSQL. Default: nil.
	Tracer pgx.QueryTracer `json:"-"`
	// Clock returns the time. On SQLite it decides what has expired. Default: time.Now.
	Clock func() time.Time `json:"-"`
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
	if err := URL(c.URL).Validate(); err != nil {
		wrong = append(wrong, fmt.Errorf("%s cannot be used: %w", c.urlSetting(), err))
	}
	check := func(ok bool, setting, want string, value any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf("GLUEPOT_DATABASE_%s is %v: choose %s", setting, value, want))
		}
	}
	const zeroOrPositive = "zero or a positive time"
	check(c.MaxConnections >= 1 && c.MaxConnections <= 1000, "MAX_CONNECTIONS", "1 to 1000", c.MaxConnections)
	check(c.ConnectTimeout >= time.Millisecond, "CONNECT_TIMEOUT", "at least 1ms", c.ConnectTimeout)
	check(c.ConnectionMaxLifetime >= 0, "CONNECTION_MAX_LIFETIME", zeroOrPositive, c.ConnectionMaxLifetime)
	check(c.SlowStatement >= 0, "SLOW_STATEMENT", zeroOrPositive, c.SlowStatement)
	return errors.Join(wrong...)
}

// Format implements fmt.Formatter: it prints no password.
func (c Config) Format(state fmt.State, verb rune) {
	_, _ = fmt.Fprintf(state, fmt.FormatString(state, verb), c.redacted())
}

// MarshalJSON implements json.Marshaler, without the password.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.redacted()) }

// redacted returns the configuration without the password.
func (c Config) redacted() any {
	type plain Config // it has no methods
	c.URL = URL(c.URL).String()
	return plain(c)
}

func (c Config) urlSetting() string { return cmp.Or(c.URLSetting, defaultSetting) }

const defaultSetting = "GLUEPOT_DATABASE_URL"
