package gormstore

import "strings"

// queries are every statement that a request waits for, and the few others that GORM cannot say. The
// index that serves one stands beside its table in the first migration. They are fixed text rather than
// built by GORM, which would cost about a quarter of the throughput (decision 0004); $1 and $2 mean the
// same to both databases.
type queries struct {
	usersByNames     string // $1: array of folded usernames
	tokensByHashes   string // $1: array of hashes
	accountsByHashes string // $1: array of hashes, $2: array of nows
	userByName       string // $1: folded username
	tokenByHash      string // $1: hash
	accountByHash    string // $1: hash, $2: now
	activeIDs        string // $1: owner, $2: now
	joinedActiveIDs  string // the same in one row: their number, and themselves with line feeds in between
	activeCount      string // $1: now
	removeExpired    string // $1: now, $2: limit
	star             string // $1: user, $2: paste
	schemaVersion    string
	sweepTryLock     string // empty where the write lock of the transaction is enough
}

const (
	userColumns  = `u.id, u.username, u.avatar_url, u.default_language, u.public_profile, u.supporter_months, u.contributor, u.created_at`
	tokenColumns = `t.id, t.user_id, t.hash, t.name, t.created_at, t.expires_at, t.last_used_at, t.revoked_at`

	userByName  = `SELECT ` + userColumns + ` FROM users u WHERE u.username_folded = $1`
	tokenByHash = `SELECT ` + tokenColumns + ` FROM access_tokens t WHERE t.hash = $1`
	activeIDs   = `SELECT p.id FROM pastes p
		WHERE p.owner_id = $1 AND (p.expires_at IS NULL OR p.expires_at > $2)
		ORDER BY p.created_at DESC, p.id DESC`
	star = `INSERT INTO stars (user_id, paste_id, position)
		SELECT $1, $2, coalesce(max(s.position) + 1, 0) FROM stars s WHERE s.user_id = $1
		ON CONFLICT (user_id, paste_id) DO NOTHING`
	schemaVersion = `SELECT coalesce(max(version_id), 0) FROM ` + migrationsTable
)

const (
	postgresStars = `(SELECT coalesce(json_agg(s.paste_id ORDER BY s.position, s.paste_id), '[]')
			FROM stars s JOIN pastes p ON p.id = s.paste_id
			WHERE s.user_id = u.id AND (p.expires_at IS NULL OR p.expires_at > %s))::text`
	postgresServices = `(SELECT coalesce(json_object_agg(v.service, v.service_user_id), '{}')
			FROM user_services v WHERE v.user_id = u.id)::text`
)

// The arrays of the merged lookups stand in a subquery of their own, which hides their length from
// the planner. When it knows the length, it takes the plan for exactly that length to be cheaper than one for any, and so
// plans anew for each execution, which costs more than running.
var postgresQueries = queries{
	usersByNames: `SELECT q.n, ` + userColumns + `
		FROM unnest((SELECT $1::text[])) WITH ORDINALITY q (name, n) JOIN users u ON u.username_folded = q.name COLLATE "C"`,
	tokensByHashes: `SELECT q.n, ` + tokenColumns + `
		FROM unnest((SELECT $1::bytea[])) WITH ORDINALITY q (hash, n) JOIN access_tokens t ON t.hash = q.hash`,
	accountsByHashes: `SELECT q.n, ` + tokenColumns + `, ` + userColumns + `, ` + strings.Replace(postgresStars, "%s", "q.now", 1) + `, ` + postgresServices + `
		FROM unnest((SELECT $1::bytea[]), (SELECT $2::timestamptz[])) WITH ORDINALITY q (hash, now, n) JOIN access_tokens t ON t.hash = q.hash JOIN users u ON u.id = t.user_id`,
	userByName:  userByName,
	tokenByHash: tokenByHash,
	accountByHash: `SELECT ` + tokenColumns + `, ` + userColumns + `, ` + strings.Replace(postgresStars, "%s", "$2", 1) + `, ` + postgresServices + `
		FROM access_tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = $1`,
	activeIDs: activeIDs,
	// A row for each id costs PostgreSQL a third more, and its readers several times as much.
	joinedActiveIDs: `SELECT count(*), string_agg(p.id, E'\n') FROM (` + activeIDs + `) p`,
	activeCount: `SELECT (SELECT coalesce(sum(c.pastes), 0)::bigint FROM paste_counts c)
		- (SELECT count(*) FROM pastes p WHERE p.expires_at <= $1)`,
	removeExpired: `DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
	star:          star,
	schemaVersion: schemaVersion,
	sweepTryLock:  `SELECT pg_try_advisory_xact_lock(7163384644223837030)`, // an arbitrary number: "sweeping" to us, nothing to others
}

var sqliteQueries = queries{
	userByName:  userByName,
	tokenByHash: tokenByHash,
	accountByHash: `SELECT ` + tokenColumns + `, ` + userColumns + `,
		(SELECT json_group_array(s.paste_id ORDER BY s.position, s.paste_id)
			FROM stars s JOIN pastes p ON p.id = s.paste_id
			WHERE s.user_id = u.id AND (p.expires_at IS NULL OR p.expires_at > $2)),
		(SELECT json_group_object(v.service, v.service_user_id)
			FROM user_services v WHERE v.user_id = u.id)
		FROM access_tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = $1`,
	activeIDs:       activeIDs,
	joinedActiveIDs: `SELECT count(*), group_concat(p.id, char(10)) FROM (` + activeIDs + `) p`,
	// SQLite answers count(*) from page headers of the narrowest index: 2 ms for a million pastes.
	// A counter kept by its row-level triggers would quarter the speed of writing, and miss the rows
	// that INSERT OR REPLACE takes away (decision 0005).
	activeCount: `SELECT (SELECT count(*) FROM pastes) - (SELECT count(*) FROM pastes p WHERE p.expires_at <= $1)`,
	removeExpired: `DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
	star:          star,
	schemaVersion: schemaVersion,
}
