package gormstore

import (
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// dialect is what differs between the two databases, but for how each is opened.
type dialect struct {
	migrations migrationSource
	// now is the clock of the rows, in statements; nil: the process has the same, see Store.now.
	now clause.Expression
	// activeCount counts the active pastes; it has one argument, see Store.now.
	activeCount string
	// removeExpired removes pastes that expired before its first argument, as many as its second.
	removeExpired string
	// empty removes all rows of a table, and what refers to them; %s is its name.
	empty string
	// size is how many bytes the database takes on disk.
	size string
	// day is the day of created_at, counted from 1970 in UTC.
	day string
	// standby tells whether the server is no primary; empty: there are none.
	standby string
	// prepareSearch makes the index of searches and tells whether it is there, and searchable tells without making it; empty: it is.
	prepareSearch, searchable string
	// indexed finds texts by the index with a condition that has one argument, see trigrams; empty: LIKE does it by itself.
	indexed string
	// lockImport makes imports of one kind take turns; empty: transactions do so anyway.
	lockImport string
}

var postgresDialect = &dialect{
	migrations: migrationSource{goose.DialectPostgres, "migrations/postgres"},
	// now() would be when the transaction began. A subquery is run once for a statement.
	now: clause.Expr{SQL: "(SELECT clock_timestamp())"},
	// The planner knows nothing of the result of a subquery, and would take a third of all pastes for expired. now(), of
	// which it knows that it is about the present, lets it find that they are few.
	activeCount: `SELECT (SELECT coalesce(sum(pastes), 0)::bigint FROM paste_counts) -
		(SELECT count(*) FROM pastes WHERE expires_at <= ? AND expires_at <= now() + interval '1 day')`,
	removeExpired: `DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
	empty:      "TRUNCATE %s CASCADE",
	size:       `SELECT pg_database_size(current_database())`,
	day:        `floor(extract(epoch FROM created_at) / 86400)::bigint`,
	standby:    `SELECT pg_is_in_recovery()`,
	lockImport: `SELECT pg_advisory_xact_lock(hashtext(?))`,

	prepareSearch: `SELECT prepare_search()`,
	searchable:    `SELECT to_regclass('paste_texts_by_trigram') IS NOT NULL`,
}

var sqliteDialect = &dialect{
	migrations: migrationSource{goose.DialectSQLite3, "migrations/sqlite"},
	// SQLite answers count(*) from the pages of the narrowest index: 2 ms for a million pastes. A counter kept by its
	// row-level triggers would quarter the speed of writing.
	activeCount: `SELECT (SELECT count(*) FROM pastes) - (SELECT count(*) FROM pastes WHERE expires_at <= ?)`,
	removeExpired: `DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
	empty:   "DELETE FROM %s",
	indexed: `x.number IN (SELECT rowid FROM paste_texts_by_trigram WHERE paste_texts_by_trigram MATCH ?)`,
	size:    `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`,
	day:     `created_at / 86400000000`,
}

// now is an argument of a statement: the time by which its rows are judged.
func (s *Store) now() any {
	if s.dialect.now != nil {
		return s.dialect.now
	}
	return instant(s.clock())
}

// ago is an argument of a statement: the instant that was so long before now.
func (s *Store) ago(d time.Duration) any {
	if s.dialect.now != nil {
		return gorm.Expr("(SELECT clock_timestamp()) - make_interval(secs => ?)", d.Seconds())
	}
	return instant(s.clock().Add(-d))
}

// time reads the clock of the rows.
func (s *Store) time(tx *gorm.DB) (now time.Time, err error) {
	if s.dialect.now == nil {
		return instant(s.clock()), nil
	}
	err = tx.Raw("SELECT ?", s.dialect.now).Row().Scan(&now)
	return instant(now), err
}
