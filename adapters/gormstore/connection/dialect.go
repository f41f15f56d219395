package connection

import (
	"database/sql"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Dialect is what differs between the two databases, except how they are opened.
type Dialect struct {
	goose      goose.Dialect
	migrations string // their folder
	// now is the database's clock; nil: the process's clock, see Store.Now.
	now clause.Expression
	// ActiveCount counts the active pastes; it has one argument, see Store.Now.
	ActiveCount string
	// PassExpired makes ActiveCount skip pastes that expired before its argument, if they are many: 100,000 at once, but for those that
	// expired at the same instant.
	PassExpired string
	// RewindExpired forgets that after the clock was put back; it has one argument, see Store.Now.
	RewindExpired string
	// RemoveExpired removes pastes that expired before its first argument, as many as its second.
	RemoveExpired string
	// UnindexExpired takes those pastes out of the index of searches before, with the same arguments; empty: RemoveExpired does it as well.
	UnindexExpired string
	// Size is how many bytes the database takes on disk.
	Size string
	// Day is the day of created_at, counted from 1970 in UTC.
	Day string
	// standby is a query that reports whether the server is a standby; empty: never.
	standby string
	// PrepareSearch creates the search index and reports whether it exists; Searchable only reports it. Empty: it always exists.
	PrepareSearch, Searchable string
	// Indexed is a condition on the index with one argument, see phrases in gormstore; empty: LIKE uses the index by itself.
	Indexed string
	// LockImport makes imports of one kind take turns; empty: all transactions do.
	LockImport string
}

var postgresDialect = &Dialect{
	goose: goose.DialectPostgres, migrations: "migrations/postgres",
	// now() would be when the transaction began. A subquery is run once for a statement.
	now: clause.Expr{SQL: "(SELECT clock_timestamp())"},
	// The planner knows nothing of the result of a subquery, and would take a third of all pastes for expired. now(), of
	// which it knows that it is about the present, lets it find that they are few.
	ActiveCount: `SELECT (SELECT coalesce(sum(pastes - expired), 0)::bigint FROM paste_counts) -
		(SELECT count(*) FROM pastes WHERE expires_at > (SELECT max(until) FROM paste_counts)
			AND expires_at <= ? AND expires_at <= now() + interval '1 day')`,
	PassExpired:   `SELECT pass_expired(?)`,
	RewindExpired: `UPDATE paste_counts SET until = '-infinity', expired = 0 WHERE until > ?`,
	RemoveExpired: `DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
	Size:       `SELECT pg_database_size(current_database())`,
	Day:        `floor(extract(epoch FROM created_at) / 86400)::bigint`,
	standby:    `SELECT pg_is_in_recovery()`,
	LockImport: `SELECT pg_advisory_xact_lock(hashtext(?))`,

	PrepareSearch: `SELECT prepare_search()`,
	Searchable:    `SELECT to_regclass('paste_texts_by_trigram') IS NOT NULL`,
}

var sqliteDialect = &Dialect{
	goose: goose.DialectSQLite3, migrations: "migrations/sqlite",
	// SQLite answers count(*) from the pages of the narrowest index: 2 ms for a million pastes. A counter kept by its
	// row-level triggers would quarter the speed of writing.
	ActiveCount: `SELECT (SELECT count(*) FROM pastes) - e.pastes -
		(SELECT count(*) FROM pastes WHERE expires_at > e.until AND expires_at <= ?) FROM expired_pastes e`,
	PassExpired: `UPDATE expired_pastes SET until = n.until, pastes = pastes + (SELECT count(*) FROM pastes
			WHERE expires_at > expired_pastes.until AND expires_at <= n.until)
		FROM (SELECT coalesce((SELECT expires_at FROM pastes WHERE expires_at > (SELECT until FROM expired_pastes) AND expires_at <= a.instant
			ORDER BY expires_at LIMIT 1 OFFSET 99999), a.instant) AS until FROM (SELECT ? AS instant) a) n
		WHERE EXISTS (SELECT 1 FROM pastes WHERE expires_at > expired_pastes.until AND expires_at <= n.until LIMIT 1 OFFSET 999)`,
	RewindExpired: `UPDATE expired_pastes SET until = -9223372036854775808, pastes = 0 WHERE until > ?`,
	RemoveExpired: `DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
	// In the order of their numbers: FTS5 writes and merges a part of the index each time that a number is less than the one before.
	UnindexExpired: `DELETE FROM paste_texts WHERE number IN (SELECT number FROM paste_texts WHERE paste_id IN (
		SELECT id FROM pastes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?))`,
	Indexed: `x.number IN (SELECT rowid FROM paste_texts_by_trigram WHERE paste_texts_by_trigram MATCH ?)`,
	Size:    `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`,
	Day:     `created_at / 86400000000`,
}

// Now is an argument of a statement: the current time, which decides what has expired.
func (s *Store) Now() any {
	if s.Dialect.now != nil {
		return s.Dialect.now
	}
	return Instant(s.Clock())
}

// Ago is an argument of a statement: the time d ago.
func (s *Store) Ago(d time.Duration) any {
	if s.Dialect.now != nil {
		return gorm.Expr("(SELECT clock_timestamp()) - make_interval(secs => ?)", d.Seconds())
	}
	return Instant(s.Clock().Add(-d))
}

// Time reads the database's clock, or the store's on SQLite.
func (s *Store) Time(tx *gorm.DB) (now time.Time, err error) {
	if s.Dialect.now == nil {
		return Instant(s.Clock()), nil
	}
	err = tx.Raw("SELECT ?", s.Dialect.now).Row().Scan(&now)
	return Instant(now), err
}

// Instant returns t as both databases store it: in UTC, to the microsecond.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Nullable stores the zero time, never, as NULL.
func Nullable(t time.Time) sql.NullTime {
	return sql.NullTime{Time: Instant(t), Valid: !t.IsZero()}
}

// FromNullable is the inverse of Nullable.
func FromNullable(t sql.NullTime) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}
