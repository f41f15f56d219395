// Package bootstrap opens the use cases on a database: configuration, the object graph, start and stop. Other programs
// embed it. Package program below it has what only the program gluepot needs: commands, HTTP, settings.
package bootstrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
)

// Config configures the use cases. Start from DefaultConfig.
type Config struct {
	Database gormstore.Config
	// ReadURL is where public profiles may be read from: a standby of the database, or a proxy that chooses one and bounds
	// its lag. The database is asked instead for users that are missing there, and while the standby does not answer.
	// Default: none.
	ReadURL string
	// RereadReadURL is Database.Reread for ReadURL. Default: nil.
	RereadReadURL func() (gormstore.URL, error) `json:"-"`
	// Dataloader merges concurrent lookups on PostgreSQL.
	Dataloader bool
	// Migrate brings the database schema up to date at start, and creates the file of an SQLite database. Without it,
	// starting changes nothing.
	Migrate bool
	// ReadOnly makes every use case that would change the database fail with fault.Unavailable, and changes nothing in the
	// background.
	ReadOnly bool
	// AllowPendingMigrations also opens a database that lacks migrations: for servers, whose readiness check fails until
	// it is migrated.
	AllowPendingMigrations bool
	// SweepInterval is the time between two sweeps of expired pastes; 0, the default, leaves them to other nodes. Several
	// nodes may sweep at once.
	SweepInterval time.Duration
	// Pastes bounds pastes and their number, and says how long what is gone is kept. Quotas hold over all nodes, and are
	// for an hour: leave their Window and Signed alone. Of Rules only Limits count. Empty fields of AnonymousLifetimes are
	// those of Lifetimes. Beyond MaxBytes, creating fails with fault.Unavailable. Default: paste.DefaultLimits, and no
	// other bounds.
	Pastes pastes.Options `json:"-"`
	// Totals adds Totals to Statistics. Default: only if Pastes.MaxBytes is set; each process then counts every few
	// seconds.
	Totals bool
	// Accounts has the providers to sign in with, whether there are passwords, and who may sign up. Its Notify is the one
	// below. Default: no providers, no passwords and no sign-up.
	Accounts accounts.Options `json:"-"`
	// UseInterval is how often the last-used times of tokens are stored.
	UseInterval time.Duration
	// Notify is told of new reports and administrators, and of a store that fills up. Default: nil, no one is told.
	Notify notice.Func `json:"-"`
	// Logger logs work in the background, and slow statements unless Database.OnSlowStatement is set. Default: nothing is
	// logged.
	Logger *zap.Logger
}

// DefaultConfig returns an embedded database below the working directory, which is not swept.
func DefaultConfig() Config {
	return Config{
		Database:    gormstore.DefaultConfig(),
		Dataloader:  true,
		Migrate:     true,
		UseInterval: 30 * time.Second,
		Accounts:    accounts.Options{Registration: accounts.Closed},
		Pastes: pastes.Options{
			Rules:            paste.Rules{Limits: paste.DefaultLimits()},
			RemovedRetention: 30 * 24 * time.Hour,
			SweepGrace:       90 * time.Second, // for a server whose answers may take 30 seconds
		},
	}
}

// Format implements fmt.Formatter: it prints no password.
func (c Config) Format(state fmt.State, verb rune) {
	_, _ = fmt.Fprintf(state, fmt.FormatString(state, verb), c.redacted())
}

// MarshalJSON implements json.Marshaler, without passwords.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.redacted()) }

// redacted returns the configuration without passwords. Database redacts its own.
func (c Config) redacted() any {
	type plain Config // it has no methods
	if c.ReadURL != "" {
		c.ReadURL = gormstore.URL(c.ReadURL).String()
	}
	return plain(c)
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	errs := []error{c.Database.Validate(), c.Accounts.Registration.Validate()}
	if c.ReadURL != "" {
		url := gormstore.URL(c.ReadURL)
		err := url.Validate()
		if !url.IsPostgres() || !gormstore.URL(c.Database.URL).IsPostgres() {
			err = errors.New("it must be a postgres:// URL, and so must GLUEPOT_DATABASE_URL")
		}
		if err != nil { // do not quote the URL, which may contain a password
			errs = append(errs, fmt.Errorf("GLUEPOT_DATABASE_READ_URL cannot be used: %w", err))
		}
	}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	own, limits := c.Pastes, c.Pastes.Rules.Limits
	const zeroOrPositive = " is %v: choose zero or a positive time"
	check(c.SweepInterval >= 0, "GLUEPOT_SWEEP_INTERVAL"+zeroOrPositive, c.SweepInterval)
	check(own.SweepGrace >= 0, "the grace of expired pastes"+zeroOrPositive, own.SweepGrace)
	check(own.RemovedRetention >= 0, "GLUEPOT_REMOVED_RETENTION"+zeroOrPositive, own.RemovedRetention)
	check(own.OriginRetention >= 0, "GLUEPOT_ORIGIN_RETENTION"+zeroOrPositive, own.OriginRetention)
	check(c.UseInterval > 0, "GLUEPOT_TOKEN_USE_INTERVAL is %v: choose a positive time", c.UseInterval)
	check(limits.Pasties > 0, "GLUEPOT_PASTE_MAX_PASTIES is %d: choose a positive number", limits.Pasties)
	check(limits.ContentBytes > 0, "a paste may have %d bytes: choose a positive number", limits.ContentBytes)
	const zeroOrMore = " is %d: choose zero or a positive number"
	check(limits.Edits >= 0, "GLUEPOT_PASTE_MAX_EDITS"+zeroOrMore, limits.Edits)
	check(limits.HistoryBytes >= 0, "the length of a paste's history in bytes"+zeroOrMore, limits.HistoryBytes)
	const perHour = " is %d: choose a number up to a million, or 0 for no limit"
	anonymous, perUser := own.AnonymousQuota.Pastes, own.Allowance.Rate.Pastes
	for _, window := range []time.Duration{own.AnonymousQuota.Window, own.Allowance.Rate.Window} {
		check(window == 0 || window == time.Hour,
			"the window of a quota is %v: leave it empty, quotas are for an hour", window)
	}
	check(anonymous >= 0 && anonymous <= 1_000_000, "GLUEPOT_LIMIT_ANONYMOUS_PASTES"+perHour, anonymous)
	check(perUser >= 0 && perUser <= 1_000_000, "GLUEPOT_USER_PASTES_PER_HOUR"+perHour, perUser)
	const noLimit = " is %d: choose a positive number, or 0 for no limit"
	check(own.Allowance.Pastes >= 0, "GLUEPOT_USER_MAX_PASTES"+noLimit, own.Allowance.Pastes)
	check(own.Allowance.Bytes >= 0, "GLUEPOT_USER_MAX_BYTES"+noLimit, own.Allowance.Bytes)
	check(own.MaxBytes >= 0, "GLUEPOT_STORE_MAX_BYTES"+noLimit, own.MaxBytes)
	if _, _, err := c.lifetimes(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// lifetimes returns the lifetimes of signed-in users' pastes and of visitors'.
func (c Config) lifetimes() (users, visitors paste.Lifetimes, err error) {
	if users, err = c.Pastes.Lifetimes.Within(paste.Lifetimes{}); err != nil {
		return users, visitors, fmt.Errorf("GLUEPOT_PASTE_DEFAULT_LIFETIME and GLUEPOT_PASTE_MAX_LIFETIME: %w", err)
	}
	if visitors, err = c.Pastes.AnonymousLifetimes.Within(users); err != nil {
		return users, visitors, fmt.Errorf("GLUEPOT_ANONYMOUS_DEFAULT_LIFETIME and GLUEPOT_ANONYMOUS_MAX_LIFETIME: %w", err)
	}
	return users, visitors, nil
}
