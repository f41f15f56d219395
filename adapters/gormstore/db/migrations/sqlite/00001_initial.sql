-- Instants are whole microseconds since 1970 in UTC; the column type TIMESTAMP makes the driver read them as times.
-- Each table's purpose is described in the migration of PostgreSQL.

-- +goose Up
CREATE TABLE installation (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    uid            TEXT NOT NULL,
    oldest_version INTEGER NOT NULL,
    copying_from   TEXT
);
INSERT INTO installation (id, uid, oldest_version) VALUES (1, lower(hex(randomblob(16))), 1);

CREATE TABLE users (
    id               TEXT NOT NULL PRIMARY KEY,
    username         TEXT NOT NULL
                     CHECK (length(username) BETWEEN 1 AND 64 AND username NOT GLOB '*[^A-Za-z0-9._-]*'
                            AND username GLOB '[A-Za-z0-9]*' AND username GLOB '*[A-Za-z0-9]' AND lower(username) <> 'self'),
    username_folded  TEXT NOT NULL GENERATED ALWAYS AS (lower(username)) STORED UNIQUE,
    avatar_url       TEXT NOT NULL,
    default_language TEXT NOT NULL,
    public_profile   BOOLEAN NOT NULL,
    show_tags        BOOLEAN NOT NULL DEFAULT FALSE,
    supporter_months INTEGER NOT NULL CHECK (supporter_months BETWEEN 0 AND 2147483647),
    contributor      BOOLEAN NOT NULL,
    created_at       TIMESTAMP NOT NULL,
    admin            BOOLEAN NOT NULL DEFAULT FALSE,
    suspended        BOOLEAN NOT NULL DEFAULT FALSE,
    pastes_hidden    BOOLEAN NOT NULL DEFAULT FALSE,
    profile_closed   BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE TABLE user_deletions (
    user_id  TEXT NOT NULL PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    keeps    BOOLEAN NOT NULL,
    until    TIMESTAMP,
    lifetime TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE identities (
    user_id  TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    provider TEXT NOT NULL,
    subject  TEXT NOT NULL,
    imported BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (user_id, provider),
    UNIQUE (provider, subject)
) WITHOUT ROWID;

CREATE TABLE unlinked_identities (
    user_id  TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    provider TEXT NOT NULL,
    subject  TEXT NOT NULL,
    PRIMARY KEY (user_id, provider, subject)
) WITHOUT ROWID;

CREATE TABLE passwords (
    user_id TEXT NOT NULL PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    hash    TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE passkeys (
    id              TEXT NOT NULL PRIMARY KEY,
    user_id         TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    name            TEXT NOT NULL,
    public_key      BLOB NOT NULL,
    counter         INTEGER NOT NULL,
    backup_eligible BOOLEAN NOT NULL,
    created_at      TIMESTAMP NOT NULL,
    last_used_at    TIMESTAMP
) WITHOUT ROWID;
CREATE INDEX passkeys_by_user ON passkeys (user_id);

CREATE TABLE passkey_ceremonies (
    hash       BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    purpose    TEXT NOT NULL,
    challenge  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    expires_at TIMESTAMP NOT NULL
) WITHOUT ROWID;
CREATE INDEX passkey_ceremonies_by_expiry ON passkey_ceremonies (expires_at);

CREATE TABLE one_time_links (
    hash       BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    user_id    TEXT REFERENCES users ON DELETE CASCADE,
    offered_by TEXT,
    expires_at TIMESTAMP NOT NULL
) WITHOUT ROWID;
CREATE INDEX one_time_links_by_user ON one_time_links (user_id);

CREATE TABLE sign_in_attempts (
    hash          BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    source        TEXT NOT NULL,
    state         TEXT NOT NULL,
    nonce         TEXT NOT NULL,
    verifier      TEXT NOT NULL,
    provider      TEXT NOT NULL,
    subject       TEXT NOT NULL,
    name          TEXT NOT NULL,
    avatar_url    TEXT NOT NULL,
    next          TEXT NOT NULL,
    invitation_id TEXT,
    user_id       TEXT,
    expires_at    TIMESTAMP NOT NULL
) WITHOUT ROWID;
CREATE INDEX sign_in_attempts_by_expiry ON sign_in_attempts (expires_at);

CREATE TABLE invitations (
    id         TEXT NOT NULL PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    uses       INTEGER NOT NULL CHECK (uses >= 0),
    note       TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL
);

CREATE TABLE access_tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    kind         INTEGER NOT NULL,
    scope        INTEGER NOT NULL,
    parent_id    TEXT,
    hash         BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    name         TEXT NOT NULL,
    created_at   TIMESTAMP NOT NULL,
    expires_at   TIMESTAMP,
    last_used_at TIMESTAMP,
    revoked_at   TIMESTAMP
);
CREATE INDEX access_tokens_by_user ON access_tokens (user_id);

CREATE TABLE pastes (
    id            TEXT NOT NULL PRIMARY KEY,
    owner_id      TEXT REFERENCES users ON DELETE CASCADE,
    created_at    TIMESTAMP NOT NULL,
    expires_at    TIMESTAMP,
    edited_at     TIMESTAMP,
    burns         BOOLEAN NOT NULL DEFAULT false,
    lifetime      TEXT NOT NULL,
    visibility    INTEGER NOT NULL,
    unshared      BOOLEAN NOT NULL DEFAULT FALSE,
    title         TEXT NOT NULL,
    encrypted     BOOLEAN NOT NULL,
    pasties       INTEGER NOT NULL,
    tags          INTEGER NOT NULL,
    edits         INTEGER NOT NULL,
    content_bytes INTEGER NOT NULL,
    history_bytes INTEGER NOT NULL,
    delete_key    BLOB,
    origin        TEXT,
    removed_at    TIMESTAMP,
    hidden        BOOLEAN NOT NULL DEFAULT FALSE,
    CHECK (removed_at IS NOT NULL OR NOT hidden)
);
-- One owner's ids, newest first, with what decides whether they are shown: the table itself is not read.
CREATE INDEX pastes_by_owner ON pastes (owner_id, created_at DESC, id DESC, expires_at, removed_at);
CREATE INDEX public_pastes_by_owner ON pastes (owner_id, created_at DESC, id DESC) WHERE visibility = 1;
CREATE INDEX pastes_by_creation ON pastes (created_at DESC, id DESC);
-- What has expired and was not swept yet. Not partial: being the narrowest index over every paste, it also
-- serves count(*), which walks its pages without looking at a row.
CREATE INDEX pastes_by_expiry ON pastes (expires_at, removed_at);
CREATE INDEX removed_pastes ON pastes (created_at DESC, id DESC) WHERE removed_at IS NOT NULL;
CREATE INDEX public_pastes ON pastes (created_at DESC, id DESC) WHERE visibility = 1;

CREATE TABLE pasties (
    paste_id TEXT NOT NULL REFERENCES pastes ON DELETE CASCADE,
    position INTEGER NOT NULL,
    id       TEXT NOT NULL,
    title    TEXT NOT NULL,
    language TEXT NOT NULL,
    code     TEXT NOT NULL,
    lines    INTEGER NOT NULL GENERATED ALWAYS AS (
        length(code) - length(replace(code, char(10), '')) + (code <> '' AND substr(code, -1) <> char(10))
    ) STORED,
    PRIMARY KEY (paste_id, position)
);

CREATE TABLE paste_tags (
    paste_id TEXT NOT NULL REFERENCES pastes ON DELETE CASCADE,
    tag      TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (paste_id, position)
) WITHOUT ROWID;

CREATE TABLE paste_edits (
    paste_id  TEXT NOT NULL REFERENCES pastes ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    id        TEXT NOT NULL,
    number    INTEGER NOT NULL,
    type      INTEGER NOT NULL,
    metadata  TEXT NOT NULL,
    text      TEXT NOT NULL,
    edited_at TIMESTAMP NOT NULL,
    PRIMARY KEY (paste_id, position)
);

CREATE TABLE paste_ciphers (
    paste_id TEXT NOT NULL PRIMARY KEY REFERENCES pastes ON DELETE CASCADE,
    version  INTEGER NOT NULL,
    data     BLOB NOT NULL,
    key      BLOB NOT NULL,
    salt     BLOB NOT NULL
);

CREATE TABLE paste_texts (
    number    INTEGER PRIMARY KEY, -- by which the index knows the row: VACUUM keeps it
    paste_id  TEXT NOT NULL UNIQUE REFERENCES pastes ON DELETE CASCADE,
    public    BOOLEAN NOT NULL,
    titles    TEXT NOT NULL,
    text      TEXT NOT NULL,
    tags      TEXT NOT NULL,
    languages TEXT NOT NULL
);
-- How often something was deleted from the index, and how often that had been when it was last purged.
CREATE TABLE search_remains (deleted INTEGER NOT NULL, purged INTEGER NOT NULL);
INSERT INTO search_remains VALUES (0, 0);
-- The texts are folded already. With the positions of trigrams the index finds phrases, and nothing else. FTS5's secure-delete would take
-- 50 ms of the one writer for each paste that is deleted or edited; servers, backups and gluepot compact purge the index instead.
CREATE VIRTUAL TABLE paste_texts_by_trigram USING fts5(titles, text, tags, languages,
    content = 'paste_texts', content_rowid = 'number', columnsize = 0, tokenize = 'trigram case_sensitive 1');
-- +goose StatementBegin
CREATE TRIGGER paste_texts_inserted AFTER INSERT ON paste_texts WHEN new.public BEGIN
    INSERT INTO paste_texts_by_trigram (rowid, titles, text, tags, languages)
    VALUES (new.number, new.titles, new.text, new.tags, new.languages);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER paste_texts_updated AFTER UPDATE ON paste_texts WHEN new.public BEGIN
    INSERT INTO paste_texts_by_trigram (rowid, titles, text, tags, languages)
    VALUES (new.number, new.titles, new.text, new.tags, new.languages);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER paste_texts_updating BEFORE UPDATE ON paste_texts WHEN old.public BEGIN
    INSERT INTO paste_texts_by_trigram (paste_texts_by_trigram, rowid, titles, text, tags, languages)
    VALUES ('delete', old.number, old.titles, old.text, old.tags, old.languages);
    UPDATE search_remains SET deleted = deleted + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER paste_texts_deleted AFTER DELETE ON paste_texts WHEN old.public BEGIN
    INSERT INTO paste_texts_by_trigram (paste_texts_by_trigram, rowid, titles, text, tags, languages)
    VALUES ('delete', old.number, old.titles, old.text, old.tags, old.languages);
    UPDATE search_remains SET deleted = deleted + 1;
END;
-- +goose StatementEnd

CREATE TABLE stars (
    user_id  TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    paste_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (user_id, paste_id)
) WITHOUT ROWID;
CREATE INDEX stars_by_paste ON stars (paste_id);

CREATE TABLE former_names (
    username_folded TEXT NOT NULL PRIMARY KEY,
    user_id         TEXT NOT NULL,
    given_up_at     TIMESTAMP NOT NULL
) WITHOUT ROWID;

CREATE TABLE tombstones (
    kind       TEXT NOT NULL CHECK (kind IN ('paste', 'user')),
    id         TEXT NOT NULL,
    deleted_at TIMESTAMP NOT NULL,
    removed_by TEXT NOT NULL DEFAULT '',
    reason     TEXT NOT NULL DEFAULT '',
    told       BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;

CREATE TABLE audit_log (
    id     TEXT NOT NULL PRIMARY KEY,
    at     TIMESTAMP NOT NULL,
    actor  TEXT NOT NULL,
    act    TEXT NOT NULL,
    target TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX audit_log_by_time ON audit_log (at DESC, id DESC);

CREATE TABLE blocks (
    network    TEXT NOT NULL PRIMARY KEY,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP,
    reason     TEXT NOT NULL
);

CREATE TABLE reports (
    id         TEXT NOT NULL PRIMARY KEY,
    paste_id   TEXT NOT NULL REFERENCES pastes ON DELETE CASCADE,
    reason     TEXT NOT NULL,
    text       TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX reports_by_paste ON reports (paste_id);
CREATE INDEX reports_by_creation ON reports (created_at, id);

CREATE TABLE paste_quotas (
    client  BLOB NOT NULL PRIMARY KEY,
    full_at TIMESTAMP NOT NULL
) WITHOUT ROWID;
CREATE TABLE paste_quota_salt (salt BLOB NOT NULL);
INSERT INTO paste_quota_salt VALUES (randomblob(32));

CREATE TABLE paste_origins (
    paste_id   TEXT NOT NULL PRIMARY KEY,
    address    TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
) WITHOUT ROWID;
CREATE INDEX paste_origins_by_creation ON paste_origins (created_at);

-- +goose Down
DROP TABLE paste_origins;
DROP TABLE paste_quota_salt;
DROP TABLE paste_quotas;
DROP TABLE reports;
DROP TABLE blocks;
DROP TABLE audit_log;
DROP TABLE former_names;
DROP TABLE tombstones;
DROP TABLE stars;
DROP TABLE paste_texts_by_trigram;
DROP TABLE search_remains;
DROP TABLE paste_texts;
DROP TABLE paste_ciphers;
DROP TABLE paste_edits;
DROP TABLE paste_tags;
DROP TABLE pasties;
DROP TABLE pastes;
DROP TABLE access_tokens;
DROP TABLE invitations;
DROP TABLE sign_in_attempts;
DROP TABLE one_time_links;
DROP TABLE passkey_ceremonies;
DROP TABLE passkeys;
DROP TABLE passwords;
DROP TABLE unlinked_identities;
DROP TABLE identities;
DROP TABLE user_deletions;
DROP TABLE users;
DROP TABLE installation;
