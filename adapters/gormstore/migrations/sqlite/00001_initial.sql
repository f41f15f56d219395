-- Instants are whole microseconds since 1970 in UTC; the column type TIMESTAMP makes the driver read them as times.

-- +goose Up
CREATE TABLE users (
    id               TEXT NOT NULL PRIMARY KEY,
    username         TEXT NOT NULL
                     CHECK (length(username) BETWEEN 1 AND 64 AND username NOT GLOB '*[^A-Za-z0-9._-]*'
                            AND username GLOB '[A-Za-z0-9]*' AND username GLOB '*[A-Za-z0-9]' AND lower(username) <> 'self'),
    -- Generated, so that no writer can let two users share a name.
    username_folded  TEXT NOT NULL GENERATED ALWAYS AS (lower(username)) STORED UNIQUE,
    avatar_url       TEXT NOT NULL,
    default_language TEXT NOT NULL,
    public_profile   BOOLEAN NOT NULL,
    supporter_months INTEGER NOT NULL CHECK (supporter_months BETWEEN 0 AND 2147483647),
    contributor      BOOLEAN NOT NULL,
    created_at       TIMESTAMP NOT NULL
);

-- The accounts at other services that a user signs in with.
CREATE TABLE user_services (
    user_id         TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    service         TEXT NOT NULL,
    service_user_id TEXT NOT NULL,
    PRIMARY KEY (user_id, service)
) WITHOUT ROWID;

CREATE TABLE access_tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    hash         BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256; the token itself is not kept
    name         TEXT NOT NULL,
    created_at   TIMESTAMP NOT NULL,
    expires_at   TIMESTAMP,
    last_used_at TIMESTAMP,
    revoked_at   TIMESTAMP
);
CREATE INDEX access_tokens_by_user ON access_tokens (user_id);

-- Narrow on purpose: content belongs in a table of its own beside this one, visibility in a column with a default.
CREATE TABLE pastes (
    id         TEXT NOT NULL PRIMARY KEY,
    owner_id   TEXT REFERENCES users ON DELETE CASCADE, -- NULL: anonymous
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP -- NULL: never
);
-- One owner's ids, newest first, expiry included: the table itself is not read.
CREATE INDEX pastes_by_owner ON pastes (owner_id, created_at DESC, id DESC, expires_at);
-- What is expired and not swept yet. Not partial: being the narrowest index over every paste, it also
-- serves count(*), which walks its pages without looking at a row.
CREATE INDEX pastes_by_expiry ON pastes (expires_at);

-- No foreign key to pastes: a star may come before its paste does. It shows while the paste exists.
CREATE TABLE stars (
    user_id  TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    paste_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (user_id, paste_id)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE stars;
DROP TABLE pastes;
DROP TABLE access_tokens;
DROP TABLE user_services;
DROP TABLE users;
