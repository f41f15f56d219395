// Package gormstore keeps users, tokens and pastes in PostgreSQL or SQLite, on GORM.
//
// Each port has one implementation for both databases. Package connection opens them, and has what differs between the two.
package gormstore

import (
	"context"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
)

type (
	// Store is connection.Store.
	Store = connection.Store
	// Config is connection.Config.
	Config = connection.Config
	// URL is connection.URL.
	URL = connection.URL
	// Statement is connection.Statement.
	Statement = connection.Statement
	// Schema is connection.Schema.
	Schema = connection.Schema
	// Restored is connection.Restored.
	Restored = connection.Restored
)

// ErrOutdated is returned for a database that lacks migrations.
var ErrOutdated = connection.ErrOutdated

// New returns a store for the database in cfg, without opening it. NewUsers, NewPastes and so on make the ports.
// It fails when cfg is not valid.
func New(cfg Config) (*Store, error) {
	return connection.New(cfg)
}

// DefaultConfig returns an embedded store below the working directory.
func DefaultConfig() Config { return connection.DefaultConfig() }

// Restore is connection.Restore.
func Restore(ctx context.Context, cfg Config, from string, replace bool) (Restored, error) {
	return connection.Restore(ctx, cfg, from, replace)
}

// Translate returns the *fault.Error that the store would return for an error of pgx or of a context.
func Translate(err error) error { return connection.Translate(err) }
