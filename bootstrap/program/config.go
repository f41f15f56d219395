// Package program is the program gluepot: its commands, their settings, the log and the server.
package program

import (
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/bootstrap"
)

// config is everything that can be set with flags and the environment.
type config struct {
	bootstrap.Config

	HTTP httpapi.Config
	Log  logConfig
	// Pages serves pages for people beside the interface.
	Pages bool
	// AdminAddr is the host:port to serve metrics and profiles at; empty: nowhere.
	AdminAddr string
}

// logConfig says what is logged and how.
type logConfig struct {
	Level  string // debug, info, warn or error
	Format string // json or console
}

// defaultConfig returns a server on 127.0.0.1:8080 with an embedded database below the working directory.
func defaultConfig() config {
	cfg := config{Config: bootstrap.DefaultConfig(), HTTP: httpapi.DefaultConfig(), Log: logConfig{Level: "info", Format: "json"}, Pages: true}
	cfg.SweepInterval = time.Minute
	return cfg
}

// Validate returns one error that names every wrong value.
func (c config) Validate() error {
	wrong := []error{c.Config.Validate(), c.HTTP.Validate(), c.Log.validate()}
	if _, _, err := net.SplitHostPort(c.AdminAddr); err != nil && c.AdminAddr != "" {
		wrong = append(wrong, fmt.Errorf("the address of metrics %q is not HOST:PORT", c.AdminAddr))
	}
	return errors.Join(wrong...)
}

// scheme is that of the server's URLs.
func (c config) scheme() string {
	if c.HTTP.Secure() {
		return "https"
	}
	return "http"
}

// sweepMargin is how much longer than a request a paste outlives its expiry: more than clocks are put back.
const sweepMargin = time.Minute

// served returns what the use cases of a server need.
func (c config) served(log *zap.Logger) bootstrap.Config {
	own := c.Config
	own.Logger, own.AllowPendingMigrations, own.SweepGrace = log, true, c.HTTP.WriteTimeout+sweepMargin
	return own
}

// commanded returns what the use cases of one command need, which may migrate the database or not.
func (c config) commanded(migrates bool) bootstrap.Config {
	own := c.Config
	own.Migrate, own.SweepInterval = c.Migrate && migrates, 0
	return own
}

func (c logConfig) validate() error {
	var wrong []error
	if _, err := zapcore.ParseLevel(c.Level); err != nil {
		wrong = append(wrong, fmt.Errorf("the log level %q is not debug, info, warn or error", c.Level))
	}
	if c.Format != "json" && c.Format != "console" {
		wrong = append(wrong, fmt.Errorf("the log format %q is not json or console", c.Format))
	}
	return errors.Join(wrong...)
}
