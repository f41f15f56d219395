// Package program is the program gluepot: its commands, their settings, the log and the server.
package program

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/bootstrap"
)

// config is everything that can be set with flags and the environment.
type config struct {
	bootstrap.Config

	HTTP httpapi.Config
	Log  logConfig
}

// logConfig says what is logged and how.
type logConfig struct {
	Level  string // debug, info, warn or error
	Format string // json or console
}

// defaultConfig returns a server on 127.0.0.1:8080 with an embedded database below the working directory.
func defaultConfig() config {
	cfg := config{Config: bootstrap.DefaultConfig(), HTTP: httpapi.DefaultConfig(), Log: logConfig{Level: "info", Format: "json"}}
	cfg.SweepInterval = time.Minute
	return cfg
}

// Validate returns one error that names every wrong value.
func (c config) Validate() error {
	return errors.Join(c.Config.Validate(), c.HTTP.Validate(), c.Log.validate())
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
