// Package gormstore keeps users, tokens and pastes in PostgreSQL or SQLite, on GORM.
//
// Each port has one implementation for both databases. Package db opens them, and has what differs between the two.
// Package sqlitefile looks after the file of SQLite.
package gormstore

import (
	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
)

type (
	// Store is db.Store.
	Store = db.Store
	// Config is db.Config.
	Config = db.Config
	// URL is db.URL.
	URL = db.URL
	// Statement is db.Statement.
	Statement = db.Statement
)

// ErrOutdated is returned for a database that lacks migrations.
var ErrOutdated = db.ErrOutdated

// New returns a store for the database in cfg, without opening it. NewUsers, NewPastes and so on return its ports. New
// fails when cfg is not valid.
func New(cfg Config) (*Store, error) {
	return db.New(cfg)
}

// DefaultConfig returns an embedded store below the working directory.
func DefaultConfig() Config { return db.DefaultConfig() }

// find reads the row of a query, and returns what domain makes of it.
func find[R, T any](query *gorm.DB, domain func(*R) (T, error)) (value T, err error) {
	var row R
	if err := query.Take(&row).Error; err != nil {
		return value, db.Translate(err)
	}
	return domain(&row)
}

// list reads the rows of a query, and returns what domain makes of each.
func list[R, T any](query *gorm.DB, domain func(*R) (T, error)) ([]T, error) {
	var rows []R
	if err := query.Find(&rows).Error; err != nil {
		return nil, db.Translate(err)
	}
	values := make([]T, len(rows))
	for i := range rows {
		var err error
		if values[i], err = domain(&rows[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}
