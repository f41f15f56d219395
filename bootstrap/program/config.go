// Package program is the program gluepot: its commands, their settings, the log and the server.
package program

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/adapters/cli"
	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/adapters/httpapi/server"
	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/adapters/signin"
	"github.com/gluepot/gluepot/adapters/webhook"
	"github.com/gluepot/gluepot/bootstrap"
)

// config is everything that can be set with flags and the environment.
type config struct {
	bootstrap.Config

	HTTP   httpapi.Config
	Server server.Config
	// LogLevel is debug, info, warn or error; LogFormat is json or console.
	LogLevel, LogFormat string
	SignIn              signin.Config
	// Passwords lets users sign in with passwords, Passkeys with passkeys, where browsers have them.
	Passwords, Passkeys bool
	// PasteAnonymous lets pastes be created without a token.
	PasteAnonymous bool
	// Pages serves pages for people, as Site configures them. HTTP has their BasePath and PublicURL.
	Pages bool
	Site  pages.Config
	// MCP serves the Model Context Protocol.
	MCP bool
	// Webhook says who is told of new reports and administrators, and of a store that fills up.
	Webhook webhook.Config
	// AdminAddr is the host:port to serve metrics and profiles at; empty: nowhere.
	AdminAddr string
}

// defaultConfig returns a server on 127.0.0.1:8080 with an embedded database below the working directory.
func defaultConfig() config {
	cfg := config{
		Config: bootstrap.DefaultConfig(), HTTP: httpapi.DefaultConfig(), Server: server.DefaultConfig(),
		LogLevel: "info", LogFormat: "json", SignIn: signin.DefaultConfig(), Passwords: true, Passkeys: true,
		PasteAnonymous: true,
		Pages:          true,
	}
	cfg.SweepInterval = time.Minute
	return cfg
}

// Validate returns one error that names every wrong value.
func (c config) Validate() error {
	errs := errors.Join(c.Config.Validate(), c.HTTP.Validate(), c.Server.Validate())
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = errors.Join(errs, fmt.Errorf(format, args...))
		}
	}
	_, noLevel := zapcore.ParseLevel(c.LogLevel)
	check(noLevel == nil, "GLUEPOT_LOG_LEVEL is %q: choose debug, info, warn or error", c.LogLevel)
	check(c.LogFormat == "json" || c.LogFormat == "console", "GLUEPOT_LOG_FORMAT is %q: choose json or console",
		c.LogFormat)
	errs = errors.Join(errs, c.SignIn.Validate(c.HTTP.PublicURL), c.Webhook.Validate())
	_, _, noAddress := net.SplitHostPort(c.AdminAddr)
	check(c.AdminAddr == "" || noAddress == nil, "GLUEPOT_ADMIN_ADDR is %q: give HOST:PORT", c.AdminAddr)
	_, noMail := mail.ParseAddress(c.Site.Contact)
	check(c.Site.Contact == "" || noMail == nil || cli.IsWebURL(c.Site.Contact),
		"GLUEPOT_CONTACT is %q: give an address such as abuse@paste.example, or an https:// URL", c.Site.Contact)
	check(c.Site.TermsURL == "" || cli.IsWebURL(c.Site.TermsURL), "GLUEPOT_TERMS_URL is %q: give an https:// URL",
		c.Site.TermsURL)
	return errs
}

// scheme is that of the server's URLs.
func (c config) scheme() string {
	if c.Server.Secure() {
		return "https"
	}
	return "http"
}

// serverConfig returns the configuration of a server's use cases.
func (c config) serverConfig() bootstrap.Config {
	result := c.Config
	result.AllowPendingMigrations, result.Totals = true, c.AdminAddr != ""
	// An operator sets a clock back by less than a minute.
	result.Pastes.SweepGrace = max(c.Server.WriteTimeout, c.HTTP.RequestTimeout) + time.Minute
	return result
}

// commandConfig returns the configuration of one command's use cases.
func (c config) commandConfig(migrates bool) bootstrap.Config {
	result := c.Config
	result.Migrate, result.SweepInterval = c.Migrate && migrates, 0
	return result
}
