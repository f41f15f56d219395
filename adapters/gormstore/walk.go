package gormstore

import (
	"gorm.io/gorm"
)

// walk calls visit with one row of a query after the other, without holding them all.
func walk[T any](query *gorm.DB, visit func(*T) error) error {
	rows, err := query.Rows()
	if err != nil {
		return translate(err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		var row T
		if err := query.ScanRows(rows, &row); err != nil {
			return translate(err)
		}
		if err := visit(&row); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}
