// Package bootstrap puts the use cases together with their database: configuration, the object graph, start and stop.
// It is what other programs embed; what only the program gluepot needs (commands, HTTP, settings) is in its folder program.
package bootstrap

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/trace"
)

// Config is what the use cases need. Fill it, starting from DefaultConfig.
type Config struct {
	Database gormstore.Config
	// Migrate brings the database schema up to date at start, and creates the file of an SQLite database. Without it
	// neither the database nor the disk is changed by starting.
	Migrate bool
	// AllowPendingMigrations opens a database that lacks migrations, too, when Migrate is false: for servers, whose
	// readiness check says so until somebody has migrated it.
	AllowPendingMigrations bool
	// SweepInterval is the time between two searches for expired pastes to remove; 0, the default, leaves it to other
	// nodes. Nodes that sweep the same database take turns.
	SweepInterval time.Duration
	// SweepGrace is how long a paste outlives its expiry before it is removed: more than a use case may take, such as a
	// list that is sent to a slow client, and than clocks are put back.
	SweepGrace time.Duration
	// Pastes bounds what a paste holds. PasteAnonymous lets pastes be created without a token.
	Pastes         paste.Limits
	PasteAnonymous bool
	// LimitAnonymousPastes is how many pastes a client may create without a token in an hour, counted over all nodes: so
	// many at once, and then one more in each part of the hour. 0, the default, is no limit.
	LimitAnonymousPastes int
	// UseInterval is how often the last-used times of tokens are stored.
	UseInterval time.Duration
	// Logger takes what happens in the background, such as last-used times that could not be stored, slow statements
	// (unless Database.OnSlowStatement is told of them) and, at debug level, each step of start and stop. Default: nothing is logged.
	Logger *zap.Logger
	// Tracer is told of the use cases that run in the background, and Database.Tracer of statements; those that are called, by
	// a tracer in their context (trace.With). Default: nil, nobody is.
	Tracer trace.Tracer
}

// DefaultConfig returns an embedded database below the working directory, which nobody sweeps.
func DefaultConfig() Config {
	return Config{
		Database:    gormstore.DefaultConfig(),
		Migrate:     true,
		SweepGrace:  90 * time.Second, // that of a server whose answers may take 30 seconds
		UseInterval: 30 * time.Second,

		Pastes:         paste.DefaultLimits(),
		PasteAnonymous: true,
	}
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	wrong := []error{c.Database.Validate()}
	if c.SweepInterval < 0 {
		wrong = append(wrong, fmt.Errorf("the sweep interval is %v: choose zero or a positive time", c.SweepInterval))
	}
	if c.SweepGrace < 0 {
		wrong = append(wrong, fmt.Errorf("the grace of expired pastes is %v: choose zero or a positive time", c.SweepGrace))
	}
	if c.Pastes.Pasties < 1 || c.Pastes.ContentBytes < 1 {
		wrong = append(wrong, fmt.Errorf("a paste may have %d pasties of %d bytes: choose positive numbers", c.Pastes.Pasties,
			c.Pastes.ContentBytes))
	}
	if c.Pastes.Edits < 0 || c.Pastes.HistoryBytes < 0 {
		wrong = append(wrong, fmt.Errorf("a paste may have %d edits of %d bytes: choose zero or positive numbers", c.Pastes.Edits,
			c.Pastes.HistoryBytes))
	}
	if c.LimitAnonymousPastes < 0 || c.LimitAnonymousPastes > 1_000_000 {
		wrong = append(wrong, fmt.Errorf("the limit of anonymous pastes is %d an hour: choose a number up to a million, or 0 for none",
			c.LimitAnonymousPastes))
	}
	if c.UseInterval <= 0 {
		wrong = append(wrong, fmt.Errorf("the interval for last-used times is %v: choose a positive time", c.UseInterval))
	}
	return errors.Join(wrong...)
}
