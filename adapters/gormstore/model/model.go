// Package model has a type for each table, and turns its rows into what the domain knows. A type without TableName is
// named like its table.
package model

import (
	"database/sql"
	"fmt"
	"reflect"
	"time"

	"gorm.io/gorm"
)

// Instant returns t as both databases store it: in UTC, to the microsecond.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Computed is a time that a query computes. SQLite's driver returns only columns of tables as times; a computed time
// comes in microseconds since 1970.
type Computed time.Time

// Scan implements sql.Scanner.
func (c *Computed) Scan(value any) error {
	switch value := value.(type) {
	case nil: // of no rows
	case time.Time:
		*c = Computed(value)
	case int64:
		*c = Computed(time.UnixMicro(value))
	default:
		return fmt.Errorf("a time is %T", value)
	}
	return nil
}

// Nullable stores the zero time, which means never, as NULL. NULL is read as the zero time.
func Nullable(t time.Time) sql.NullTime {
	return sql.NullTime{Time: Instant(t), Valid: !t.IsZero()}
}

// Optional stores the empty text as NULL.
func Optional(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

// insertRows is how many rows one INSERT has: SQLite allows 32766 parameters, PostgreSQL 65535.
const insertRows = 1000

// Insert stores rows in their order. Each argument is a slice, a row or nil.
func Insert(tx *gorm.DB, all ...any) error {
	for _, rows := range all {
		if list := reflect.ValueOf(rows); list.IsZero() || list.Kind() == reflect.Slice && list.Len() == 0 {
			continue
		}
		if err := tx.CreateInBatches(rows, insertRows).Error; err != nil {
			return err
		}
	}
	return nil
}

// Installation is about the database itself.
type Installation struct {
	ID            int
	UID           string
	OldestVersion int64
	CopyingFrom   sql.NullString
}

// TableName implements schema.Tabler.
func (Installation) TableName() string { return "installation" }
