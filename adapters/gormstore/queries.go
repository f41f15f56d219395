package gormstore

import (
	"fmt"

	"github.com/gluepot/gluepot/domain/paste"
)

// queries are every statement that a request waits for, and the few others that GORM cannot say. The
// index that serves one stands beside its table in the first migration. They are fixed text rather than
// built by GORM, which would cost about a quarter of the throughput (decision 0004); $1 and $2 mean the
// same to both databases.
//
// A statement that judges pastes by time reads the clock once it has its snapshot of the rows: before that
// it may have waited for a connection or a lock, and what it then sees was not there at the earlier time.
// On PostgreSQL that is clock_timestamp(), where there may be several pastes in a subquery, so that it is read once and can be
// searched an index for; now() is when the statement arrived. SQLite is in the same process: its last argument is the time,
// which an attempt to run it takes as late.
type queries struct {
	usersByNames      string // $1: array of folded usernames
	usersByIDs        string // $1: array of user ids
	tokensByHashes    string // $1: array of hashes
	accountsByHashes  string // $1: array of hashes
	userByName        string // $1: folded username
	userByID          string // $1: user id
	userWithServices  string // $1: folded username
	tokenByHash       string // $1: hash
	accountByHash     string // $1: hash; timed
	heldIDs           string // $1: hash, $2: limit; timed
	heldIDsByHashes   string // $1: array of hashes, $2: limit
	openDocuments     string // $1: array of paste ids; see largeDocument
	openDocument      string // $1: paste id; timed; see largeDocument
	documentsFor      string // $1: array of paste ids, $2: of presented hashes, $3: of times; see largeDocument
	documentFor       string // $1: paste id, $2: presented hash, $3: time that the token is judged at; timed; see largeDocument
	wholeDocumentFor  string // the same for a paste of any size
	wholeDocumentByID string // $1: paste id, $2: presented hash; timed; whoever may see it
	activePaste       string // $1: paste id; timed
	createDocument    string // $1 to $7: creation.args; empty where it takes several statements, as are the next three
	createOwn         string // likewise, with a hash for the owner
	createDocuments   string // $1 to $7: arrays of the same
	createOwns        string // likewise
	createCounted     string // likewise, with clients for the owners; $8: the interval of their quota, $9: its pastes
	lockPaste         string // $1: paste id; empty where GORM does it, as are the next four
	setVisibility     string // $1: paste id, $2: visibility
	storeContent      string // $1 to $6: the columns of contentRow
	dropEdits         string // $1: paste id, $2: position of the first that stays
	storeEdit         string // $1 to $3: the columns of editRow
	activeIDs         string // $1: owner; timed
	titledPastes      string // as publicPastes
	publicPastes      string // $1: owner, $2 and $3: time and id of the paste after which they stand, $4: limit, $5: titleBytes; timed
	joinedActiveIDs   string // the same in one row: their number, and themselves with line feeds in between
	activeCount       string // timed
	totals            string // timed
	removeExpired     string // $1: what Store.ago returns, $2: limit
	forgetClients     string // likewise
	setLastUsed       string // what Store.useArguments returns
	star              string // $1: user, $2: paste
	schemaVersion     string
	oldestVersion     string          // see Schema
	appliedVersions   string          // with their times
	lockPastes        string          // $1: array of ids; empty where there are no arrays
	addPastes         pasteStatements // for those that are new; empty where they are copied
	replacePastes     pasteStatements // for those that are there
	importLock        string          // ?: kind; empty where the write lock of the transaction is enough
	sweepTryLock      string          // empty where the write lock of the transaction is enough
}

// pasteStatements store pastes with what they hold: see replaceAtOnce for the arguments. Where there are no arrays, they are the
// values of one row.
type pasteStatements struct {
	pastes, contents, edits string
	removeEdits             string // $1: array of paste ids, or one of them; empty: there are none
}

const (
	userColumns  = `u.id, u.username, u.avatar_url, u.default_language, u.public_profile, u.supporter_months, u.contributor, u.created_at`
	tokenColumns = `t.id, t.user_id, t.hash, t.name, t.created_at, t.expires_at, t.last_used_at, t.revoked_at`

	pasteColumns = `p.id, p.owner_id, p.created_at, p.expires_at, p.visibility`
	starCount    = `(SELECT count(*) FROM stars s WHERE s.paste_id = p.id)`

	userByName  = `SELECT ` + userColumns + ` FROM users u WHERE u.username_folded = $1`
	userByID    = `SELECT ` + userColumns + ` FROM users u WHERE u.id = $1`
	tokenByHash = `SELECT ` + tokenColumns + ` FROM access_tokens t WHERE t.hash = $1`
	star        = `INSERT INTO stars (user_id, paste_id, position)
		SELECT $1, $2, coalesce(max(s.position) + 1, 0) FROM stars s WHERE s.user_id = $1
		ON CONFLICT (user_id, paste_id) DO NOTHING`

	insertPastes   = `INSERT INTO pastes (id, owner_id, created_at, expires_at, visibility) `
	insertContents = `INSERT INTO paste_contents (paste_id, lifetime, document, edits, history_bytes) `
	insertEdits    = `INSERT INTO paste_edits (paste_id, position, entry) `
	replacePaste   = ` ON CONFLICT (id) DO UPDATE SET owner_id = excluded.owner_id, created_at = excluded.created_at,
		expires_at = excluded.expires_at, visibility = excluded.visibility`
	replaceContent = ` ON CONFLICT (paste_id) DO UPDATE SET lifetime = excluded.lifetime, document = excluded.document,
		first_edit = 0, edits = excluded.edits, history_bytes = excluded.history_bytes`

	schemaVersion = `SELECT coalesce(max(version_id), 0) FROM ` + migrationsTable
	oldestVersion = `SELECT oldest_version FROM schema_compatibility`
)

const (
	postgresStars = `(SELECT coalesce(json_agg(s.paste_id ORDER BY s.position, s.paste_id), '[]')
			FROM stars s JOIN pastes p ON p.id = s.paste_id
			WHERE s.user_id = u.id AND (p.expires_at IS NULL OR p.expires_at > (SELECT clock_timestamp())))::text`
	postgresServices = `(SELECT coalesce(json_object_agg(v.service, v.service_user_id), '{}')
			FROM user_services v WHERE v.user_id = u.id)::text`
	postgresActiveIDs = `SELECT p.id FROM pastes p
		WHERE p.owner_id = $1 AND (p.expires_at IS NULL OR p.expires_at > (SELECT clock_timestamp()))
		ORDER BY p.created_at DESC, p.id DESC`
	// The planner knows nothing of the result of a subquery, and would take a third of all pastes for
	// expired; now(), of which it knows that it is about the present, lets it find that they are few.
	postgresStored  = `(SELECT coalesce(sum(c.pastes), 0)::bigint FROM paste_counts c)`
	postgresExpired = `(SELECT count(*) FROM pastes p
		WHERE p.expires_at <= (SELECT clock_timestamp()) AND p.expires_at <= now() + interval '1 day')`
	sqliteServices = `(SELECT json_group_object(v.service, v.service_user_id)
			FROM user_services v WHERE v.user_id = u.id)`
	sqliteActiveIDs = `SELECT p.id FROM pastes p
		WHERE p.owner_id = $1 AND (p.expires_at IS NULL OR p.expires_at > $2)
		ORDER BY p.created_at DESC, p.id DESC`
	// SQLite answers count(*) from page headers of the narrowest index: 2 ms for a million pastes.
	// A counter kept by its row-level triggers would quarter the speed of writing, and miss the rows
	// that INSERT OR REPLACE takes away (decision 0005).
	sqliteStored  = `(SELECT count(*) FROM pastes)`
	sqliteExpired = `(SELECT count(*) FROM pastes p WHERE p.expires_at <= $1)`
)

const (
	// tokenAccepted, with a time, is the condition of token.Token.Verify.
	tokenAccepted = `t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > `
	// quotaIsFuture is the condition of paste.Quota.Take for what says nothing.
	quotaIsFuture = `a.full_at > g.now + 2 * g.most * g.step`
	createdArrays = `(SELECT $3::timestamptz[]), (SELECT $4::timestamptz[]), (SELECT $5::smallint[]), (SELECT $6::text[]),
			(SELECT $7::bytea[])) WITH ORDINALITY q (id, owner, created_at, expires_at, visibility, lifetime, document, n)`
)

// postgresCreateCounted stores as many of the pastes of each client as its quota has room for (paste.Quota), the first of them, and
// answers for each paste whether it is stored and after how many microseconds its client has the whole quota again.
//
// What the snapshot shows refuses a client without a write. Otherwise its row is locked, in the order of the hashes, and judged as it is
// then, by which another statement may have taken the rest: nothing is known then of what that left. A row that is missing is
// as one whose time has passed, and so is one of a time before the clock was put back.
const postgresCreateCounted = `WITH
	q AS MATERIALIZED (SELECT *, row_number() OVER (PARTITION BY q.owner ORDER BY q.n) AS place
		FROM unnest((SELECT $1::text[]), (SELECT $2::bytea[]), ` + createdArrays + `),
	g AS MATERIALIZED (SELECT clock_timestamp() AS now, $8::interval AS step, $9::integer AS most),
	w AS MATERIALIZED (SELECT q.owner, substr(sha256(k.salt || q.owner), 1, 16) AS client, least(count(*), g.most)::integer AS wanted
		FROM q, paste_quota_salt k, g GROUP BY q.owner, k.salt, g.most),
	s AS MATERIALIZED (SELECT w.*, a.full_at FROM w CROSS JOIN g
		LEFT JOIN paste_quotas a ON a.client = w.client AND NOT ` + quotaIsFuture + `),
	t AS (INSERT INTO paste_quotas AS a (client, full_at, taken)
		SELECT s.client, g.now + s.wanted * g.step, s.wanted FROM s, g
		WHERE s.full_at IS NULL OR s.full_at <= g.now + (g.most - 1) * g.step ORDER BY s.client
		ON CONFLICT (client) DO UPDATE SET (full_at, taken) = (
			SELECT u.full_at + n.taken * g.step, n.taken
			FROM g, LATERAL (SELECT CASE WHEN ` + quotaIsFuture + ` THEN g.now ELSE greatest(a.full_at, g.now) END AS full_at) u,
				LATERAL (SELECT least(excluded.taken::bigint,
					(1000000 * extract(epoch FROM g.now + g.most * g.step - u.full_at))::bigint
						/ (1000000 * extract(epoch FROM g.step))::bigint)::integer AS taken) n)
		WHERE (SELECT a.full_at <= g.now + (g.most - 1) * g.step OR ` + quotaIsFuture + ` FROM g)
		RETURNING a.client, a.full_at, a.taken),
	p AS (INSERT INTO pastes (id, created_at, expires_at, visibility)
		SELECT q.id, q.created_at, q.expires_at, q.visibility FROM q JOIN w ON w.owner = q.owner JOIN t ON t.client = w.client
		WHERE q.place <= t.taken RETURNING id),
	c AS (INSERT INTO paste_contents (paste_id, lifetime, document) SELECT q.id, q.lifetime, q.document FROM q JOIN p ON p.id = q.id)
	SELECT q.n, coalesce(q.place <= t.taken, false),
		(1000000 * extract(epoch FROM coalesce(t.full_at, s.full_at, g.now) - g.now))::bigint
	FROM g, q JOIN s ON s.owner = q.owner LEFT JOIN t ON t.client = s.client`

// Lists of an owner's pastes that are active and whose content is not sealed, as these conditions say: all of them for the index
// pastes_by_owner, and the public ones for public_pastes_by_owner.
func titledPastes(active, sealed, limit string) string {
	return listedPastes(``, active, sealed, limit)
}

func publicPastes(active, sealed, limit string) string {
	return listedPastes(`p.visibility = 1 AND `, active, sealed, limit)
}

func listedPastes(shown, active, sealed, limit string) string {
	return `SELECT ` + pasteColumns + `, substr(c.document, 1, $5) FROM pastes p JOIN paste_contents c ON c.paste_id = p.id
		WHERE p.owner_id = $1 AND ` + shown + `(p.created_at, p.id) < ($2, $3) AND ` + active + ` AND NOT ` + sealed + `
		ORDER BY p.created_at DESC, p.id DESC LIMIT ` + limit
}

// document returns the columns of documentRow, given that of the paste's id, the condition under which content is left out, and
// the aggregate that puts the entries of the history together in the order of their positions.
func document(id, without, entries string) string {
	return id + `, p.owner_id, p.created_at, p.expires_at, coalesce(p.visibility, 0), coalesce(c.lifetime, ''),
		CASE WHEN NOT ` + without + ` THEN c.document END, coalesce(` + without + `, false), coalesce(c.first_edit, 0), coalesce(c.edits, 0),
		CASE WHEN c.edits > 0 AND NOT ` + without + ` THEN (SELECT ` + entries + ` FROM paste_edits e WHERE e.paste_id = p.id) END,
		` + starCount
}

// documentFor returns the columns of heldRow, of a statement that answers with a row also where nothing is found or shown. Of a
// paste that is encrypted, as the condition sealed says, neither the id nor the content is in it.
func documentFor(sealed, without, entries string) string {
	return document(`CASE WHEN NOT `+sealed+` THEN p.id END`, `(`+sealed+` OR `+without+`)`, entries) + `, ` + tokenColumns
}

// What paste.Document.SeenBy shows, as conditions: to everybody, and to the owner of the token t, if it is valid at a time.
// They say nothing of what is sealed. A contract test ties them to it.
var seenByAll = fmt.Sprintf(`p.visibility <> %d`, paste.Private)

func seenByHolder(at string) string {
	return `(` + seenByAll + ` OR p.owner_id = t.user_id AND ` + tokenAccepted + at + `))`
}

// The form of a document is its first byte, the only one that is read for it.
func postgresForm(form byte) string {
	return fmt.Sprintf(`substr(c.document, 1, 1) = '\x%02x'::bytea`, form)
}

func sqliteForm(form byte) string { return fmt.Sprintf(`substr(c.document, 1, 1) = x'%02x'`, form) }

var (
	postgresSealed = `coalesce(` + postgresForm(formCipher) + `, false)`
	sqliteSealed   = `coalesce(` + sqliteForm(formCipher) + `, false)`
)

const (
	postgresEntries = `string_agg(e.entry, ''::bytea ORDER BY e.position)`
	sqliteEntries   = `CAST(group_concat(e.entry, '' ORDER BY e.position) AS BLOB)` // bytes in, the same bytes out
)

var (
	large   = fmt.Sprintf("(octet_length(c.document) + c.history_bytes > %d)", largeDocument)
	noLimit = "false"

	postgresPastes = insertPastes +
		`SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::smallint[])`
	postgresContents = insertContents + `SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::integer[], $5::bigint[])`
	postgresEdits    = insertEdits + `SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])`
	sqlitePaste      = insertPastes + `VALUES ($1, $2, $3, $4, $5)`
	sqliteContent    = insertContents + `VALUES ($1, $2, $3, $4, $5)`
	sqliteEdit       = insertEdits + `VALUES ($1, $2, $3)`

	// postgresPage hides the limit of a page from the planner, which would sort all that an owner has, with its content, wherever
	// it takes that for fewer than the limit (decision 0062).
	postgresPage = `(SELECT $4::bigint)`

	postgresActive = active(`clock_timestamp()`)
	// The clock is read once, whoever the holders are: a subquery that depends on nothing is run once for a statement.
	postgresHeldIDs = `(SELECT coalesce(json_agg(p.id ORDER BY p.created_at DESC, p.id DESC), '[]')
		` + newestOfHolder(active(`(SELECT clock_timestamp())`)) + `)::text`
	withContent = ` LEFT JOIN paste_contents c ON c.paste_id = p.id`
)

// active is the condition under which a paste has not expired.
func active(clock string) string { return `(p.expires_at IS NULL OR p.expires_at > ` + clock + `)` }

// newestOfHolder are the rows of so many pastes that are active, $2, of the owner of the token t.
func newestOfHolder(active string) string {
	return `FROM (SELECT p.id, p.created_at FROM pastes p WHERE p.owner_id = t.user_id AND ` + active + `
		ORDER BY p.created_at DESC, p.id DESC LIMIT $2) p`
}

// openByID are the rows of a paste that everybody may see.
func openByID(active, sealed string) string {
	return ` FROM pastes p` + withContent + ` WHERE p.id = $1 AND ` + active + ` AND ` + seenByAll + ` AND NOT ` + sealed
}

// forHolder is a row, of a paste, if the token's holder may see it, and of the token, if there is one.
func forHolder(active string) string {
	return ` FROM (SELECT 1) q LEFT JOIN access_tokens t ON t.hash = $2
		LEFT JOIN pastes p ON p.id = $1 AND ` + active + ` AND ` + seenByHolder(`$3`) + withContent
}

// byID are the rows of a paste, whoever may see it, and of a token, if there is one.
func byID(active string) string {
	return ` FROM pastes p` + withContent + ` LEFT JOIN access_tokens t ON t.hash = $2 WHERE p.id = $1 AND ` + active
}

// totals is the statement of Stats.Totals, given those that count the stored and the expired pastes.
func totals(stored, expired string) string {
	return `SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM access_tokens), ` + stored + `, ` + expired + `,
		(SELECT count(*) FROM stars s WHERE NOT EXISTS (SELECT 1 FROM pastes p WHERE p.id = s.paste_id))`
}

// The arrays of the merged lookups stand in a subquery of their own, which hides their length from
// the planner. When it knows the length, it takes the plan for exactly that length to be cheaper than one for any, and so
// plans anew for each execution, which costs more than running.
var postgresQueries = queries{
	usersByNames: `SELECT q.n, ` + userColumns + `
		FROM unnest((SELECT $1::text[])) WITH ORDINALITY q (name, n) JOIN users u ON u.username_folded = q.name COLLATE "C"`,
	usersByIDs: `SELECT q.n, ` + userColumns + `
		FROM unnest((SELECT $1::text[])) WITH ORDINALITY q (id, n) JOIN users u ON u.id = q.id COLLATE "C"`,
	tokensByHashes: `SELECT q.n, ` + tokenColumns + `
		FROM unnest((SELECT $1::bytea[])) WITH ORDINALITY q (hash, n) JOIN access_tokens t ON t.hash = q.hash`,
	accountsByHashes: `SELECT q.n, ` + tokenColumns + `, ` + userColumns + `, ` + postgresStars + `, ` + postgresServices + `
		FROM unnest((SELECT $1::bytea[])) WITH ORDINALITY q (hash, n) JOIN access_tokens t ON t.hash = q.hash
		JOIN users u ON u.id = t.user_id`,
	userByName:       userByName,
	userByID:         userByID,
	userWithServices: `SELECT ` + userColumns + `, ` + postgresServices + ` FROM users u WHERE u.username_folded = $1`,
	tokenByHash:      tokenByHash,
	accountByHash: `SELECT ` + tokenColumns + `, ` + userColumns + `, ` + postgresStars + `, ` + postgresServices + `
		FROM access_tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = $1`,
	openDocuments: `SELECT q.n, ` + document(`p.id`, large, postgresEntries) + `
		FROM unnest((SELECT $1::text[])) WITH ORDINALITY q (id, n)
		JOIN pastes p ON p.id = q.id COLLATE "C" AND ` + postgresActive + ` AND ` + seenByAll + withContent + `
		WHERE NOT ` + postgresSealed,
	openDocument: `SELECT ` + document(`p.id`, large, postgresEntries) + openByID(postgresActive, postgresSealed),
	documentsFor: `SELECT q.n, ` + documentFor(postgresSealed, large, postgresEntries) + `
		FROM unnest((SELECT $1::text[]), (SELECT $2::bytea[]), (SELECT $3::timestamptz[])) WITH ORDINALITY q (id, hash, at, n)
		LEFT JOIN access_tokens t ON t.hash = q.hash
		LEFT JOIN pastes p ON p.id = q.id COLLATE "C" AND ` + postgresActive + ` AND ` + seenByHolder(`q.at`) + withContent,
	documentFor:       `SELECT ` + documentFor(postgresSealed, large, postgresEntries) + forHolder(postgresActive),
	wholeDocumentFor:  `SELECT ` + documentFor(postgresSealed, noLimit, postgresEntries) + forHolder(postgresActive),
	wholeDocumentByID: `SELECT ` + document(`p.id`, noLimit, postgresEntries) + `, ` + tokenColumns + byID(postgresActive),
	heldIDs:           `SELECT ` + tokenColumns + `, ` + postgresHeldIDs + ` FROM access_tokens t WHERE t.hash = $1`,
	heldIDsByHashes: `SELECT q.n, ` + tokenColumns + `, ` + postgresHeldIDs + `
		FROM unnest((SELECT $1::bytea[])) WITH ORDINALITY q (hash, n) JOIN access_tokens t ON t.hash = q.hash`,
	activePaste: `SELECT ` + pasteColumns + ` FROM pastes p
		WHERE p.id = $1 AND ` + active(`(SELECT clock_timestamp())`),
	createDocument: `WITH p AS (
			INSERT INTO pastes (id, owner_id, created_at, expires_at, visibility) VALUES ($1, $2, $3, $4, $5) RETURNING id)
		INSERT INTO paste_contents (paste_id, lifetime, document) SELECT p.id, $6, $7 FROM p`,
	createOwn: `WITH t AS (SELECT ` + tokenColumns + ` FROM access_tokens t WHERE t.hash = $2),
		p AS (INSERT INTO pastes (id, owner_id, created_at, expires_at, visibility)
			SELECT $1, t.user_id, $3, $4, $5 FROM t WHERE ` + tokenAccepted + `$3) RETURNING id),
		c AS (INSERT INTO paste_contents (paste_id, lifetime, document) SELECT p.id, $6, $7 FROM p)
		SELECT ` + tokenColumns + ` FROM t`,
	// The foreign key locks the owners in the order of the rows: that of their ids, in which whoever locks several users does.
	createDocuments: `WITH q AS MATERIALIZED (SELECT * FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), ` + createdArrays + `),
		p AS (INSERT INTO pastes (id, owner_id, created_at, expires_at, visibility)
			SELECT q.id, q.owner, q.created_at, q.expires_at, q.visibility FROM q ORDER BY q.owner COLLATE "C")
		INSERT INTO paste_contents (paste_id, lifetime, document) SELECT q.id, q.lifetime, q.document FROM q`,
	createOwns: `WITH q AS MATERIALIZED (SELECT * FROM unnest((SELECT $1::text[]), (SELECT $2::bytea[]), ` + createdArrays + `),
		t AS MATERIALIZED (SELECT q.n, ` + tokenColumns + ` FROM q JOIN access_tokens t ON t.hash = q.owner),
		p AS (INSERT INTO pastes (id, owner_id, created_at, expires_at, visibility)
			SELECT q.id, t.user_id, q.created_at, q.expires_at, q.visibility FROM q JOIN t ON t.n = q.n
			WHERE ` + tokenAccepted + `q.created_at) ORDER BY t.user_id RETURNING id),
		c AS (INSERT INTO paste_contents (paste_id, lifetime, document)
			SELECT q.id, q.lifetime, q.document FROM q JOIN p ON p.id = q.id)
		SELECT t.n, ` + tokenColumns + ` FROM t`,
	createCounted: postgresCreateCounted,
	lockPaste:     `SELECT p.id FROM pastes p WHERE p.id = $1 FOR UPDATE`,
	setVisibility: `UPDATE pastes SET visibility = $2 WHERE id = $1`,
	storeContent: `INSERT INTO paste_contents (paste_id, lifetime, document, first_edit, edits, history_bytes)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (paste_id) DO UPDATE SET document = excluded.document,
			first_edit = excluded.first_edit, edits = excluded.edits, history_bytes = excluded.history_bytes`,
	dropEdits:    `DELETE FROM paste_edits WHERE paste_id = $1 AND position < $2`,
	storeEdit:    `INSERT INTO paste_edits (paste_id, position, entry) VALUES ($1, $2, $3)`,
	activeIDs:    postgresActiveIDs,
	titledPastes: titledPastes(active(`(SELECT clock_timestamp())`), postgresForm(formCipher), postgresPage),
	publicPastes: publicPastes(active(`(SELECT clock_timestamp())`), postgresForm(formCipher), postgresPage),
	// A row for each id costs PostgreSQL a third more, and its readers several times as much.
	joinedActiveIDs: `SELECT count(*), coalesce(string_agg(p.id, E'\n'), '') FROM (` + postgresActiveIDs + `) p`,
	activeCount:     `SELECT ` + postgresStored + ` - ` + postgresExpired,
	totals:          totals(postgresStored, postgresExpired),
	removeExpired: `DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= now() - $1::interval ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
	forgetClients: `DELETE FROM paste_quotas WHERE client IN (SELECT client FROM paste_quotas
		WHERE full_at <= clock_timestamp() - $1::interval LIMIT $2 FOR UPDATE SKIP LOCKED)`,
	// Rows are locked in the order of their ids, as everything that locks several does: two that lock the
	// same rows in different orders would wait for each other.
	setLastUsed: `WITH used AS MATERIALIZED (
			SELECT t.id, u.at FROM unnest($1::text[], $2::timestamptz[]) u (id, at) JOIN access_tokens t ON t.id = u.id COLLATE "C"
			WHERE t.last_used_at IS NULL OR t.last_used_at < u.at
			ORDER BY t.id FOR NO KEY UPDATE OF t)
		UPDATE access_tokens t SET last_used_at = used.at FROM used
		WHERE t.id = used.id AND (t.last_used_at IS NULL OR t.last_used_at < used.at)`,
	star:          star,
	schemaVersion: schemaVersion,
	oldestVersion: oldestVersion,
	// The column has no zone and was filled by now() in the session's.
	appliedVersions: `SELECT version_id, tstamp::timestamptz FROM ` + migrationsTable + ` WHERE is_applied`,
	lockPastes:      `SELECT ` + pasteColumns + ` FROM pastes p WHERE p.id = ANY ($1::text[]) ORDER BY p.id FOR UPDATE`,
	replacePastes: pasteStatements{
		pastes: postgresPastes + replacePaste, contents: postgresContents + replaceContent, edits: postgresEdits,
		removeEdits: `DELETE FROM paste_edits WHERE paste_id = ANY ($1::text[])`,
	},
	// Of a table that is new, and has no statistics yet, the planner would have every batch read all there is.
	importLock:   `SELECT pg_advisory_xact_lock(?), set_config('enable_seqscan', 'off', true)`,
	sweepTryLock: `SELECT pg_try_advisory_xact_lock(7163384644223837030)`, // an arbitrary number: "sweeping" to us, nothing to others
}

var sqliteQueries = queries{
	userByName:       userByName,
	userByID:         userByID,
	userWithServices: `SELECT ` + userColumns + `, ` + sqliteServices + ` FROM users u WHERE u.username_folded = $1`,
	tokenByHash:      tokenByHash,
	accountByHash: `SELECT ` + tokenColumns + `, ` + userColumns + `,
		(SELECT json_group_array(s.paste_id ORDER BY s.position, s.paste_id)
			FROM stars s JOIN pastes p ON p.id = s.paste_id
			WHERE s.user_id = u.id AND ` + active(`$2`) + `),
		` + sqliteServices + `
		FROM access_tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = $1`,
	openDocument:      `SELECT ` + document(`p.id`, large, sqliteEntries) + openByID(active(`$2`), sqliteSealed),
	documentFor:       `SELECT ` + documentFor(sqliteSealed, large, sqliteEntries) + forHolder(active(`$4`)),
	wholeDocumentFor:  `SELECT ` + documentFor(sqliteSealed, noLimit, sqliteEntries) + forHolder(active(`$4`)),
	wholeDocumentByID: `SELECT ` + document(`p.id`, noLimit, sqliteEntries) + `, ` + tokenColumns + byID(active(`$3`)),
	heldIDs: `SELECT ` + tokenColumns + `, (SELECT json_group_array(p.id ORDER BY p.created_at DESC, p.id DESC)
		` + newestOfHolder(active(`$3`)) + `) FROM access_tokens t WHERE t.hash = $1`,
	activePaste: `SELECT ` + pasteColumns + ` FROM pastes p
		WHERE p.id = $1 AND ` + active(`$2`),
	activeIDs:       sqliteActiveIDs,
	titledPastes:    titledPastes(active(`$6`), sqliteForm(formCipher), `$4`),
	publicPastes:    publicPastes(active(`$6`), sqliteForm(formCipher), `$4`),
	joinedActiveIDs: `SELECT count(*), coalesce(group_concat(p.id, char(10)), '') FROM (` + sqliteActiveIDs + `) p`,
	activeCount:     `SELECT ` + sqliteStored + ` - ` + sqliteExpired,
	totals:          totals(sqliteStored, sqliteExpired),
	removeExpired: `DELETE FROM pastes WHERE id IN (
		SELECT id FROM pastes WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
	forgetClients: `DELETE FROM paste_quotas WHERE client IN (SELECT client FROM paste_quotas WHERE full_at <= $1 LIMIT $2)`,
	setLastUsed: `UPDATE access_tokens AS t SET last_used_at = u.value FROM json_each($1) u
		WHERE t.id = u.key AND (t.last_used_at IS NULL OR t.last_used_at < u.value)`,
	addPastes: pasteStatements{pastes: sqlitePaste, contents: sqliteContent, edits: sqliteEdit},
	replacePastes: pasteStatements{
		pastes: sqlitePaste + replacePaste, contents: sqliteContent + replaceContent, edits: sqliteEdit,
		removeEdits: `DELETE FROM paste_edits WHERE paste_id = $1`,
	},
	star:            star,
	schemaVersion:   schemaVersion,
	oldestVersion:   oldestVersion,
	appliedVersions: `SELECT version_id, tstamp FROM ` + migrationsTable + ` WHERE is_applied`,
}
