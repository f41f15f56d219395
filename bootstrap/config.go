// Package bootstrap opens the use cases on a database: configuration, the object graph, start and stop. Other programs embed it.
// Package program below it has what only the program gluepot needs: commands, HTTP, settings.
package bootstrap

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/domain/paste"
)

// Config configures the use cases. Start from DefaultConfig.
type Config struct {
	Database gormstore.Config
	// ReadURL is where public profiles may be read from: a standby of the database, or a proxy that chooses one and bounds its lag.
	// The database is asked for users that are missing there, and while it does not answer. Default: none.
	ReadURL gormstore.URL
	// RereadReadURL is Database.Reread for ReadURL. Default: nil.
	RereadReadURL func() (gormstore.URL, error) `json:"-"`
	// Dataloader merges concurrent lookups on PostgreSQL.
	Dataloader bool
	// Migrate brings the database schema up to date at start, and creates the file of an SQLite database. Without it, starting changes
	// nothing.
	Migrate bool
	// ReadOnly makes every use case that would change the database fail with fault.Unavailable, and does nothing in the background.
	ReadOnly bool
	// AllowPendingMigrations also opens a database that lacks migrations: for servers, whose readiness check fails until it is migrated.
	AllowPendingMigrations bool
	// SweepInterval is the time between two sweeps of expired pastes; 0, the default, leaves them to other nodes. Several nodes may sweep
	// at once.
	SweepInterval time.Duration
	// SweepGrace is how long after its expiry a paste is removed. It must be longer than any use case takes, and than any clock is put
	// back.
	SweepGrace time.Duration
	// RemovedRetention is how long removed pastes can be restored, before a sweep deletes their content.
	RemovedRetention time.Duration
	// OriginRetention is how long the address that created a paste is kept for operators, before a sweep deletes it; 0, the default,
	// keeps none.
	OriginRetention time.Duration
	// Pastes bounds the content of a paste. PasteAnonymous allows pastes without a token.
	Pastes         paste.Limits
	PasteAnonymous bool
	// LimitAnonymousPastes is how many pastes a client may create without a token in an hour, on all nodes together: a token bucket of
	// that size, refilled in an hour. 0, the default, is no limit.
	LimitAnonymousPastes int
	// PasteLifetimes bound new pastes, except operators' own. AnonymousLifetimes bound anonymous ones further; their empty fields are
	// those of PasteLifetimes. Default: no bounds.
	PasteLifetimes, AnonymousLifetimes paste.Lifetimes
	// UserMaxPastes is how many active pastes a user may have, UserMaxBytes how many bytes of content and history in them, and
	// UserPastesPerHour how many a user may create in an hour, as LimitAnonymousPastes. Operators may exceed them. 0, the default, is no
	// limit.
	UserMaxPastes     int
	UserMaxBytes      int64
	UserPastesPerHour int
	// StoreMaxBytes is how many bytes of content and history all pastes may have: beyond it, creating fails with fault.Unavailable. Each
	// process checks it every few seconds. 0, the default, is no limit.
	StoreMaxBytes int64
	// Totals adds Totals to Statistics. Default: only if StoreMaxBytes needs them.
	Totals bool
	// Accounts has the providers to sign in with, and who may sign up. Default: no providers and no sign-up.
	Accounts accounts.Options `json:"-"`
	// UseInterval is how often the last-used times of tokens are stored.
	UseInterval time.Duration
	// Logger logs work in the background, and slow statements unless Database.OnSlowStatement is set. Default: nothing is logged.
	Logger *zap.Logger
}

// DefaultConfig returns an embedded database below the working directory, which is not swept.
func DefaultConfig() Config {
	return Config{
		Database:         gormstore.DefaultConfig(),
		Dataloader:       true,
		Migrate:          true,
		RemovedRetention: 30 * 24 * time.Hour,
		SweepGrace:       90 * time.Second, // for a server whose answers may take 30 seconds
		UseInterval:      30 * time.Second,
		Accounts:         accounts.Options{Registration: accounts.Closed},

		Pastes:         paste.DefaultLimits(),
		PasteAnonymous: true,
	}
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	wrong := []error{c.Database.Validate(), c.Accounts.Registration.Validate()}
	if c.ReadURL != "" {
		err := c.ReadURL.Validate()
		if !c.ReadURL.IsPostgres() || !c.Database.URL.IsPostgres() {
			err = errors.New("it must be a postgres:// URL, and so must the database URL")
		}
		if err != nil { // do not quote the URL, which may contain a password
			wrong = append(wrong, fmt.Errorf("GLUEPOT_DATABASE_READ_URL cannot be used: %w", err))
		}
	}
	check := func(right bool, format string, args ...any) {
		if !right {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	const zeroOrPositive, upToMillion = "choose zero or a positive time", "choose a number up to a million, or 0 for none"
	check(c.SweepInterval >= 0, "the sweep interval is %v: "+zeroOrPositive, c.SweepInterval)
	check(c.SweepGrace >= 0, "the grace of expired pastes is %v: "+zeroOrPositive, c.SweepGrace)
	check(c.RemovedRetention >= 0, "the retention of removed pastes is %v: "+zeroOrPositive, c.RemovedRetention)
	check(c.OriginRetention >= 0, "the retention of addresses is %v: "+zeroOrPositive, c.OriginRetention)
	check(c.UseInterval > 0, "the interval for last-used times is %v: choose a positive time", c.UseInterval)
	check(c.Pastes.Pasties > 0 && c.Pastes.ContentBytes > 0,
		"a paste may have %d pasties of %d bytes: choose positive numbers", c.Pastes.Pasties, c.Pastes.ContentBytes)
	check(c.Pastes.Edits >= 0 && c.Pastes.HistoryBytes >= 0,
		"a paste may have %d edits of %d bytes: choose zero or positive numbers", c.Pastes.Edits, c.Pastes.HistoryBytes)
	check(c.LimitAnonymousPastes >= 0 && c.LimitAnonymousPastes <= 1_000_000,
		"the limit of anonymous pastes is %d an hour: "+upToMillion, c.LimitAnonymousPastes)
	check(c.UserPastesPerHour >= 0 && c.UserPastesPerHour <= 1_000_000,
		"the limit of a user's pastes is %d an hour: "+upToMillion, c.UserPastesPerHour)
	check(c.UserMaxPastes >= 0 && c.UserMaxBytes >= 0 && c.StoreMaxBytes >= 0,
		"a user may have %d pastes of %d bytes, and all pastes %d bytes: choose positive numbers, or 0 for no limit",
		c.UserMaxPastes, c.UserMaxBytes, c.StoreMaxBytes)
	if _, _, err := c.lifetimes(); err != nil {
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// lifetimes returns those of signed-in users and of visitors.
func (c Config) lifetimes() (users, visitors paste.Lifetimes, err error) {
	if users, err = c.PasteLifetimes.Within(paste.Lifetimes{}); err != nil {
		return users, visitors, fmt.Errorf("GLUEPOT_PASTE_DEFAULT_LIFETIME and GLUEPOT_PASTE_MAX_LIFETIME: %w", err)
	}
	if visitors, err = c.AnonymousLifetimes.Within(users); err != nil {
		return users, visitors, fmt.Errorf("GLUEPOT_ANONYMOUS_DEFAULT_LIFETIME and GLUEPOT_ANONYMOUS_MAX_LIFETIME: %w", err)
	}
	return users, visitors, nil
}
