// Package bootstrap puts the parts together: configuration, the object graph, start and stop.
package bootstrap

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/httpapi"
)

// Config is everything that can be set. Embedders fill it, starting from DefaultConfig; the command
// line fills it from flags and the environment.
type Config struct {
	Database gormstore.Config
	// Migrate brings the database schema up to date at start, and creates the file of an SQLite database. Without it
	// neither the database nor the disk is changed by starting.
	Migrate bool
	HTTP    httpapi.Config
	Log     LogConfig
	// SweepInterval is the time between two searches for expired pastes to remove; 0 leaves it to other nodes.
	SweepInterval time.Duration
	// UseInterval is how often the last-used times of tokens are stored.
	UseInterval time.Duration
}

// LogConfig says what is logged and how.
type LogConfig struct {
	Level  string // debug, info, warn or error
	Format string // json or console
}

// DefaultConfig returns a server on 127.0.0.1:8080 with an embedded database below the working directory.
func DefaultConfig() Config {
	return Config{
		Database:      gormstore.DefaultConfig(),
		Migrate:       true,
		HTTP:          httpapi.DefaultConfig(),
		Log:           LogConfig{Level: "info", Format: "json"},
		SweepInterval: time.Minute,
		UseInterval:   30 * time.Second,
	}
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	wrong := []error{c.Database.Validate(), c.HTTP.Validate(), c.Log.validate()}
	if c.SweepInterval < 0 {
		wrong = append(wrong, fmt.Errorf("the sweep interval is %v: choose zero or a positive time", c.SweepInterval))
	}
	if c.UseInterval <= 0 {
		wrong = append(wrong, fmt.Errorf("the interval for last-used times is %v: choose a positive time", c.UseInterval))
	}
	return errors.Join(wrong...)
}

func (c LogConfig) validate() error {
	var wrong []error
	if _, err := zapcore.ParseLevel(c.Level); err != nil {
		wrong = append(wrong, fmt.Errorf("the log level %q is not debug, info, warn or error", c.Level))
	}
	if c.Format != "json" && c.Format != "console" {
		wrong = append(wrong, fmt.Errorf("the log format %q is not json or console", c.Format))
	}
	return errors.Join(wrong...)
}
