// Package gormstore keeps users, tokens and pastes in PostgreSQL or SQLite, on GORM.
//
// Each port has one implementation for both databases. Package connection opens them, and has what differs between the two.
package gormstore

import (
	"context"
	"reflect"

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
	return connection.New(cfg, connection.Hooks{Before: guard, After: note})
}

// DefaultConfig returns an embedded store below the working directory.
func DefaultConfig() Config { return connection.DefaultConfig() }

// Restore is connection.Restore.
func Restore(ctx context.Context, cfg Config, from string, replace bool) (Restored, error) {
	return connection.Restore(ctx, cfg, from, replace)
}

// Translate returns the *fault.Error that the store would return for an error of pgx or of a context.
func Translate(err error) error { return connection.Translate(err) }

// insertRows is how many rows one INSERT has: SQLite allows 32766 parameters, PostgreSQL 65535.
const insertRows = 1000

// insert stores the rows of each list, a slice, in their order.
func insert(tx *gorm.DB, lists ...any) error {
	for _, rows := range lists {
		if reflect.ValueOf(rows).Len() == 0 {
			continue
		}
		if err := tx.CreateInBatches(rows, insertRows).Error; err != nil {
			return err
		}
	}
	return nil
}

// ifAny returns a list of the row, which is empty for nil.
func ifAny[T any](row *T) []*T {
	if row == nil {
		return nil
	}
	return []*T{row}
}
