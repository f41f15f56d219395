package db

import (
	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
)

// Dialect is what differs between the statements and the migrations of the two databases. openPostgres and openSQLite
// have the rest.
type Dialect struct {
	goose      goose.Dialect
	migrations string // their folder
	// attempts is how often applying the pending migrations is tried. Without goose's lock, it fails when another process
	// applies them at the same moment.
	attempts int
	// relations are the names of all tables and indexes where Gluepot's are or will be. foreign reports whether one cannot
	// stay beside Gluepot's: an SQLite file belongs to one program, and programs can share a schema of PostgreSQL.
	relations string
	foreign   func(name string) bool
	// ActiveCount counts the active pastes; it has one argument, see Store.Now.
	ActiveCount string
	// RemoveExpired removes pastes that expired before its first argument, as many as its second. Each statement has both
	// arguments; the rows of the last one are the removed pastes.
	RemoveExpired []string
	// Size is how many bytes the database takes on disk.
	Size string
	// Day is the day of created_at, counted from 1970 in UTC.
	Day string
	// analyze updates the planner's statistics about the tables, except those that this role does not own or that are
	// locked.
	analyze string
	// lag is for how many seconds a standby has not replayed what the primary has written, if there is anything; 0: it is
	// none.
	lag string
	// standby reports whether the server is a standby.
	standby string
	// Searchable reports whether there is a search index.
	Searchable string
	// PlanAnew makes PostgreSQL plan each statement of a transaction for its arguments. Once a statement has run five
	// times, it may otherwise use a generic plan, with which a search reads all texts.
	PlanAnew string
	// Indexed restricts a query for the texts x to what their index finds for SQLite's MATCH expression. On PostgreSQL,
	// LIKE uses the index by itself.
	Indexed func(texts *gorm.DB, match string) *gorm.DB
	// LockAll, with the names of tables, waits for writers of them, and keeps others away until the transaction ends. On
	// SQLite all transactions take turns.
	LockAll func(tables string) string
	// failWhileCopying is a statement that fails while a copy to the database has not ended. It must not wait for the
	// copy.
	failWhileCopying string
	// lockImport makes imports of one kind, its argument, take turns. On SQLite all transactions take turns.
	lockImport string
}

const postgresMigrations = "migrations/postgres"

var postgresDialect = &Dialect{
	goose: goose.DialectPostgres, migrations: postgresMigrations, attempts: 1,
	relations: `SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema()`,
	foreign:   func(name string) bool { return relationsOf(postgresMigrations)[name] },
	// The planner cannot estimate the result of a subquery, and would assume that a third of all pastes have expired. It
	// can estimate now(), and so finds that they are few.
	ActiveCount: `SELECT (SELECT coalesce(sum(pastes), 0)::bigint FROM paste_counts) -
		(SELECT count(*) FROM pastes WHERE expires_at <= ? AND expires_at <= now() + interval '1 day' AND removed_at IS NULL)`,
	RemoveExpired: []string{`DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`},
	Size:    `SELECT pg_database_size(current_database())`,
	Day:     `floor(extract(epoch FROM created_at) / 86400)::bigint`,
	analyze: `ANALYZE (SKIP_LOCKED) users, pastes, pasties, paste_tags, paste_edits, paste_texts, stars`,
	standby: `SELECT pg_is_in_recovery()`,
	// Without a receiver nothing tells how much the primary has written since the last transaction that arrived.
	lag: `SELECT CASE
		WHEN NOT pg_is_in_recovery() THEN 0
		WHEN EXISTS (SELECT FROM pg_stat_wal_receiver) AND pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
		ELSE coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 1e9) END`,
	LockAll:    func(tables string) string { return `LOCK TABLE ` + tables + ` IN SHARE ROW EXCLUSIVE MODE` },
	lockImport: `SELECT pg_advisory_xact_lock(hashtext(?))`,

	failWhileCopying: `SELECT 1 / (copying_from IS NULL)::integer FROM installation`,

	Searchable: `SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('paste_texts_by_trigram') AND indisvalid)`,
	PlanAnew:   `SET LOCAL plan_cache_mode = force_custom_plan`,
	Indexed:    func(texts *gorm.DB, _ string) *gorm.DB { return texts },
}

var sqliteDialect = &Dialect{
	goose: goose.DialectSQLite3, migrations: "migrations/sqlite", attempts: 5,
	relations: `SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'`,
	foreign:   func(name string) bool { return name != migrationsTable },
	// SQLite answers count(*) from the pages of the narrowest index: 2 ms for a million pastes. A counter kept by its
	// row-level triggers would make writes four times as slow.
	ActiveCount: `SELECT (SELECT count(*) FROM pastes) - (SELECT count(*) FROM pastes WHERE removed_at IS NOT NULL) -
		(SELECT count(*) FROM pastes WHERE expires_at <= ? AND removed_at IS NULL)`,
	RemoveExpired: []string{
		// In the order of their numbers: FTS5 writes and merges a part of the index each time that a number is less than the
		// one before.
		`DELETE FROM paste_texts WHERE number IN (SELECT number FROM paste_texts WHERE paste_id IN (
			SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?))`,
		`DELETE FROM pastes WHERE id IN (SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
	},
	Size:       `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`,
	Day:        `created_at / 86400000000`,
	analyze:    `SELECT TRUE`, // its plans do not depend on it
	standby:    `SELECT FALSE`,
	lag:        `SELECT 0`,
	LockAll:    func(string) string { return `SELECT TRUE` },
	lockImport: `SELECT ?`,

	failWhileCopying: `UPDATE installation SET uid = NULL WHERE copying_from IS NOT NULL`,

	Searchable: `SELECT TRUE`,
	PlanAnew:   `SELECT TRUE`,
	Indexed: func(texts *gorm.DB, match string) *gorm.DB {
		return texts.Where(`x.number IN (SELECT rowid FROM paste_texts_by_trigram WHERE paste_texts_by_trigram MATCH ?)`,
			match)
	},
}
