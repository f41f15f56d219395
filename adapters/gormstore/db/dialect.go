package db

import (
	"strings"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
)

// Dialect is how the statements and the migrations of the two databases differ. openPostgres and openSQLite have the
// other differences.
type Dialect struct {
	goose      goose.Dialect
	migrations string // the folder of the migrations
	// clock reads the time at which a statement runs. If it is "", the process's clock decides.
	clock string
	// attempts is how often applying the pending migrations is tried. Without goose's lock, it fails when another process
	// applies them at the same moment.
	attempts int
	// relations selects the names of the tables and indexes in the schema that Gluepot uses. foreign reports whether one
	// conflicts with Gluepot: an SQLite file belongs to one program, but programs can share a schema of PostgreSQL.
	relations string
	foreign   func(name string) bool
	// ActiveCount counts the active pastes; it has one argument, see Store.Now.
	ActiveCount string
	// RemoveExpired removes pastes that expired before its first argument, at most as many as its second. Each statement
	// takes both arguments. The last one affects a row for each removed paste.
	RemoveExpired []string
	// Size returns how many bytes the database takes on disk.
	Size string
	// Day returns the day of created_at, counted from 1970 in UTC.
	Day string
	// analyze updates the planner's statistics about the tables, except those that this role does not own or that are
	// locked.
	analyze string
	// lag returns for how many seconds a standby has not replayed what the primary has written; 0 for a primary.
	lag string
	// standby reports whether the server is a standby.
	standby string
	// Searchable reports whether there is a search index.
	Searchable string
	// ReplanEach makes PostgreSQL plan each statement of a transaction for its arguments. Otherwise a statement that has
	// run five times may get a generic plan, with which a search reads all texts.
	ReplanEach string
	// match restricts the texts x to what SQLite's index finds for a MATCH expression; "": LIKE uses the index.
	match string
	// failWhileCopying fails while the database is the target of a copy that has not ended. It does not wait for the copy.
	failWhileCopying string
	// lockImport makes imports of one kind, its argument, take turns. On SQLite all transactions do.
	lockImport string
}

// Indexed restricts a query for the texts x to what their index finds for a MATCH expression, where LIKE does not use
// the index.
func (d *Dialect) Indexed(texts *gorm.DB, match string) *gorm.DB {
	if d.match == "" {
		return texts
	}
	return texts.Where(d.match, match)
}

// LockTables waits for writers of the tables, and keeps others away until the transaction ends. On SQLite all
// transactions take turns.
func (s *Store) LockTables(tx *gorm.DB, names []string) error {
	if s.pgx == nil {
		return nil
	}
	return tx.Exec("LOCK TABLE " + strings.Join(names, ", ") + " IN SHARE ROW EXCLUSIVE MODE").Error
}

const postgresMigrations = "migrations/postgres"

var postgresDialect = &Dialect{
	goose: goose.DialectPostgres, migrations: postgresMigrations, attempts: 1,
	clock: `(SELECT clock_timestamp())`, // now() is the time of BEGIN; a subquery runs once in a statement
	relations: `SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema()`,
	foreign: func(name string) bool { return relationsOf(postgresMigrations)[name] },
	// The planner cannot estimate the result of a subquery, and would assume that a third of all pastes have expired. It
	// can estimate now(), and so finds that they are few.
	ActiveCount: `SELECT (SELECT coalesce(sum(pastes), 0)::bigint FROM paste_counts) -
		(SELECT count(*) FROM pastes
			WHERE expires_at <= ? AND expires_at <= now() + interval '1 day' AND removed_at IS NULL)`,
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
	lockImport:       `SELECT pg_advisory_xact_lock(hashtext(?))`,
	failWhileCopying: `SELECT 1 / (copying_from IS NULL)::integer FROM installation`,
	Searchable: `SELECT EXISTS (
		SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('paste_texts_by_trigram') AND indisvalid)`,
	ReplanEach: `SET LOCAL plan_cache_mode = force_custom_plan`,
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
		// In the order of their numbers: each time that a number is less than the one before, FTS5 writes and merges a part
		// of the index.
		`DELETE FROM paste_texts WHERE number IN (SELECT number FROM paste_texts WHERE paste_id IN (
			SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?))`,
		`DELETE FROM pastes WHERE id IN (SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
	},
	Size:             `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`,
	Day:              `created_at / 86400000000`,
	analyze:          `SELECT TRUE`, // its plans do not depend on it
	standby:          `SELECT FALSE`,
	lag:              `SELECT 0`,
	lockImport:       `SELECT ?`,
	failWhileCopying: `UPDATE installation SET uid = NULL WHERE copying_from IS NOT NULL`,
	Searchable:       `SELECT TRUE`,
	ReplanEach:       `SELECT TRUE`,
	match:            `x.number IN (SELECT rowid FROM paste_texts_by_trigram WHERE paste_texts_by_trigram MATCH ?)`,
}
