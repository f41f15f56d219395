// Package gormstore keeps users, tokens and pastes in PostgreSQL or SQLite, on GORM.
//
// Each port has one implementation for both databases. Package connection opens them, and has what differs between the two.
package gormstore

import (
	"gorm.io/gorm"

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

// find reads the row of a query as what it stands for.
func find[R, T any](query *gorm.DB, domain func(*R) (T, error)) (found T, err error) {
	var row R
	if err := query.Take(&row).Error; err != nil {
		return found, connection.Translate(err)
	}
	return domain(&row)
}

// list reads the rows of a query as what they stand for.
func list[R, T any](query *gorm.DB, domain func(*R) (T, error)) ([]T, error) {
	var rows []R
	if err := query.Find(&rows).Error; err != nil {
		return nil, connection.Translate(err)
	}
	found := make([]T, len(rows))
	for i := range rows {
		var err error
		if found[i], err = domain(&rows[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}
