package connection

import (
	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
)

// Dialect is what differs between the statements and the migrations of the two databases. openPostgres and openSQLite have the rest.
type Dialect struct {
	goose      goose.Dialect
	migrations string // their folder
	// attempts is how often pending migrations are applied: without a lock of goose's, those that another process applies at the same
	// moment fail.
	attempts int
	// ActiveCount counts the active pastes; it has one argument, see Store.Now.
	ActiveCount string
	// RemoveExpired removes pastes that expired before its first argument, as many as its second. Each statement has both arguments; the
	// last one counts.
	RemoveExpired []string
	// Size is how many bytes the database takes on disk.
	Size string
	// Day is the day of created_at, counted from 1970 in UTC.
	Day string
	// analyze brings up to date what the planner knows about the tables, if this role owns them and none of them is locked.
	analyze string
	// standby reports whether the server is a standby.
	standby string
	// PrepareSearch creates the search index and reports whether it exists; Searchable only reports it.
	PrepareSearch, Searchable string
	// PlanAnew has the statements of a transaction planned for their arguments, each time. Once a statement has run five times,
	// PostgreSQL may plan it for any arguments: a search then reads all texts.
	PlanAnew string
	// Indexed restricts a query for the texts x to what their index finds for SQLite's MATCH expression. On PostgreSQL, LIKE uses the index
	// by itself.
	Indexed func(texts *gorm.DB, match string) *gorm.DB
	// lockImport makes imports of the kind that is its argument take turns. On SQLite all transactions do.
	lockImport string
}

var postgresDialect = &Dialect{
	goose: goose.DialectPostgres, migrations: "migrations/postgres", attempts: 1,
	// The planner knows nothing of the result of a subquery, and would take a third of all pastes for expired. now(), of
	// which it knows that it is about the present, lets it find that they are few.
	ActiveCount: `SELECT (SELECT coalesce(sum(pastes), 0)::bigint FROM paste_counts) -
		(SELECT count(*) FROM pastes WHERE expires_at <= ? AND expires_at <= now() + interval '1 day')`,
	RemoveExpired: []string{`DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`},
	Size:       `SELECT pg_database_size(current_database())`,
	Day:        `floor(extract(epoch FROM created_at) / 86400)::bigint`,
	analyze:    `ANALYZE (SKIP_LOCKED) users, pastes, pasties, paste_tags, paste_edits, paste_texts, stars`,
	standby:    `SELECT pg_is_in_recovery()`,
	lockImport: `SELECT pg_advisory_xact_lock(hashtext(?))`,

	PrepareSearch: `SELECT prepare_search()`,
	Searchable:    `SELECT to_regclass('paste_texts_by_trigram') IS NOT NULL`,
	PlanAnew:      `SET LOCAL plan_cache_mode = force_custom_plan`,
	Indexed:       func(texts *gorm.DB, _ string) *gorm.DB { return texts },
}

var sqliteDialect = &Dialect{
	goose: goose.DialectSQLite3, migrations: "migrations/sqlite", attempts: 5,
	// SQLite answers count(*) from the pages of the narrowest index: 2 ms for a million pastes. A counter kept by its
	// row-level triggers would quarter the speed of writing.
	ActiveCount: `SELECT (SELECT count(*) FROM pastes) - (SELECT count(*) FROM pastes WHERE expires_at <= ?)`,
	RemoveExpired: []string{
		// In the order of their numbers: FTS5 writes and merges a part of the index each time that a number is less than the one before.
		`DELETE FROM paste_texts WHERE number IN (SELECT number FROM paste_texts WHERE paste_id IN (
			SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?))`,
		`DELETE FROM pastes WHERE id IN (SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
	},
	Size:       `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`,
	Day:        `created_at / 86400000000`,
	analyze:    `SELECT TRUE`, // its plans do not depend on it
	standby:    `SELECT FALSE`,
	lockImport: `SELECT ?`,

	PrepareSearch: `SELECT TRUE`,
	Searchable:    `SELECT TRUE`,
	PlanAnew:      `SELECT TRUE`,
	Indexed: func(texts *gorm.DB, match string) *gorm.DB {
		return texts.Where(`x.number IN (SELECT rowid FROM paste_texts_by_trigram WHERE paste_texts_by_trigram MATCH ?)`, match)
	},
}
