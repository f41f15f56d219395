package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/gluepot/gluepot/domain/fault"
)

// Undone says how much of a backup was deleted, removed or revoked again.
type Undone struct {
	What string // a plural, such as "pastes"
	Rows int64
}

// sameInstallation is true unless the backup is from another installation, which lacks rows for other reasons.
const sameInstallation = `(SELECT uid FROM main.installation) = (SELECT uid FROM restored.installation)`

// hasTombstone is the condition that an id has a tombstone in the replaced database.
func hasTombstone(kind string) string {
	return `id IN (SELECT id FROM main.tombstones WHERE kind = '` + kind + `')`
}

// readers orders visibilities as paste.Unshared does.
func readers(visibility string) string {
	return `CASE ` + visibility + ` WHEN 2 THEN 0 WHEN 0 THEN 1 ELSE 2 END`
}

// undoStatements remove from the database "restored", in this order, what was removed from "main" after the backup.
// Only the rows of statements with a name are counted.
var undoStatements = []struct{ what, statement string }{
	{"", `CREATE TEMP TABLE given_up AS SELECT r.id, (
			SELECT coalesce(sum(octet_length(replace(tag, char(26), ''))), 0) FROM restored.paste_tags WHERE paste_id = r.id
		) AS tag_bytes FROM restored.pastes r JOIN main.pastes m ON m.id = r.id
		WHERE r.owner_id IS NOT NULL AND m.owner_id IS NULL`}, // see model.Text
	{"", `DELETE FROM restored.paste_tags WHERE paste_id IN (SELECT id FROM given_up)`},
	{"", `DELETE FROM restored.paste_texts WHERE paste_id IN (SELECT id FROM given_up)`},
	{"pastes that were given up", `UPDATE restored.pastes AS r
		SET owner_id = NULL, delete_key = m.delete_key, visibility = m.visibility, unshared = m.unshared, tags = 0,
			content_bytes = r.content_bytes - g.tag_bytes, expires_at = m.expires_at, lifetime = m.lifetime
		FROM main.pastes AS m, given_up AS g WHERE m.id = r.id AND g.id = r.id`},
	{"pastes with fewer readers", `UPDATE restored.pastes AS r SET visibility = m.visibility, unshared = m.unshared
		FROM main.pastes AS m WHERE m.id = r.id AND ` + readers("m.visibility") + ` < ` + readers("r.visibility")},
	{"", `UPDATE restored.paste_texts SET public = FALSE WHERE public
		AND paste_id IN (SELECT id FROM restored.pastes WHERE visibility <> 1)`},

	{"pastes that were removed", `UPDATE restored.pastes AS r SET removed_at = m.removed_at, hidden = m.hidden
		FROM main.pastes AS m WHERE m.id = r.id AND m.removed_at IS NOT NULL
			AND (r.removed_at IS NULL OR r.hidden AND NOT m.hidden)`},
	{"", `DELETE FROM restored.paste_texts WHERE paste_id IN (SELECT id FROM restored.pastes WHERE removed_at IS ` +
		`NOT NULL)`},
	{"pastes", `DELETE FROM restored.pastes WHERE ` + hasTombstone("paste") + `
		AND id NOT IN (SELECT id FROM main.pastes)`},
	{"reports", `DELETE FROM restored.reports WHERE ` + sameInstallation + ` AND id NOT IN (SELECT id FROM main.reports)`},

	{"users", `DELETE FROM restored.users WHERE ` + hasTombstone("user") + ` AND id NOT IN (SELECT id FROM main.users)`},
	{"", `UPDATE restored.users AS r SET public_profile = r.public_profile AND m.public_profile,
			show_tags = r.show_tags AND m.show_tags, profile_closed = r.profile_closed OR m.profile_closed,
			admin = r.admin AND m.admin, suspended = r.suspended OR m.suspended,
			pastes_hidden = r.pastes_hidden OR m.pastes_hidden
		FROM main.users AS m WHERE m.id = r.id`},
	{"linked accounts", `DELETE FROM restored.identities
		WHERE (user_id, provider, subject) IN (SELECT user_id, provider, subject FROM main.unlinked_identities)`},
	{"", `INSERT OR IGNORE INTO restored.unlinked_identities (user_id, provider, subject)
		SELECT user_id, provider, subject FROM main.unlinked_identities WHERE user_id IN (SELECT id FROM restored.users)`},
	{"tokens", `UPDATE restored.access_tokens AS r
		SET revoked_at = coalesce(m.revoked_at, cast(unixepoch('subsec') * 1000000 AS integer))
		FROM main.access_tokens AS m
		WHERE m.id = r.id AND r.revoked_at IS NULL AND (m.revoked_at IS NOT NULL OR m.hash <> r.hash)`},
	{"sessions", `DELETE FROM restored.access_tokens WHERE kind = 1 AND ` + sameInstallation + `
		AND id NOT IN (SELECT id FROM main.access_tokens)`},
	{"invitations", `DELETE FROM restored.invitations WHERE ` + sameInstallation + `
		AND id NOT IN (SELECT id FROM main.invitations WHERE uses > 0)`},
	{"", `UPDATE restored.invitations AS r SET uses = m.uses
		FROM main.invitations AS m WHERE m.id = r.id AND m.uses < r.uses`},
	{"", `DELETE FROM restored.sign_in_attempts`},
	{"", `DELETE FROM restored.one_time_links`},
	{"passwords", `DELETE FROM restored.passwords WHERE ` + sameInstallation + `
		AND user_id IN (SELECT id FROM main.users) AND user_id NOT IN (SELECT user_id FROM main.passwords)`},
	{"", `DELETE FROM restored.passkey_ceremonies`},
	{"passkeys", `DELETE FROM restored.passkeys WHERE ` + sameInstallation + `
		AND user_id IN (SELECT id FROM main.users) AND id NOT IN (SELECT id FROM main.passkeys)`},
	{"", `UPDATE restored.passkeys AS r SET counter = m.counter, last_used_at = m.last_used_at
		FROM main.passkeys AS m WHERE m.id = r.id AND m.counter > r.counter`}, // otherwise a cloned authenticator would pass
	{"passwords that were changed", `UPDATE restored.passwords AS r SET hash = m.hash
		FROM main.passwords AS m WHERE m.user_id = r.user_id AND m.hash <> r.hash`},

	// The records of all that.
	{"", `INSERT OR REPLACE INTO restored.tombstones (kind, id, deleted_at, removed_by, reason, told)
		SELECT kind, id, deleted_at, removed_by, reason, told FROM main.tombstones`},
	{"", `INSERT OR REPLACE INTO restored.former_names (username_folded, user_id, given_up_at)
		SELECT username_folded, user_id, given_up_at FROM main.former_names`},
	{"", `INSERT OR IGNORE INTO restored.blocks (network, created_at, expires_at, reason)
		SELECT network, created_at, expires_at, reason FROM main.blocks`},
	{"", `INSERT OR IGNORE INTO restored.audit_log (id, at, actor, act, target, reason)
		SELECT id, at, actor, act, target, reason FROM main.audit_log`},
	{"", `DROP TABLE given_up`},
}

// attachNew attaches the new file, as "restored", to the connection to the database that it will replace.
func attachNew(ctx context.Context, db *sql.DB, path string) error {
	if _, err := db.ExecContext(ctx, "ATTACH ? AS restored", URI(path)+"?mode=rw"); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx,
		"PRAGMA foreign_keys = ON; PRAGMA restored.journal_mode = MEMORY; PRAGMA restored.secure_delete = ON")
	return err
}

// undoSinceBackup deletes, removes and revokes in the attached file what was deleted, removed and revoked in the
// database after the backup. It ends the transaction of closeLog, but keeps its lock.
func undoSinceBackup(ctx context.Context, db *sql.DB) (undone []Undone, err error) {
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM main.sqlite_schema").Scan(&tables); err != nil {
		return nil, err
	}
	for _, u := range undoStatements {
		if tables == 0 {
			break // it was never used
		}
		result, err := db.ExecContext(ctx, u.statement)
		if err != nil {
			return nil, err
		}
		rows, err := result.RowsAffected()
		if err != nil {
			return nil, err
		}
		if u.what != "" && rows > 0 {
			undone = append(undone, Undone{u.what, rows})
		}
	}
	_, err = db.ExecContext(ctx, "PRAGMA main.locking_mode = EXCLUSIVE; COMMIT; DETACH restored")
	return undone, err
}

// notCompared returns the error for a database that cannot be read, so that nobody knows what was deleted from it.
func notCompared(path string, err error) error {
	if IsFull(err) {
		return err
	}
	return fault.Wrap(fault.Unavailable, fmt.Sprintf("%s cannot be read, so what was deleted or revoked there since the "+
		"backup would come back. Add --with-deleted to accept that.", path), err)
}
