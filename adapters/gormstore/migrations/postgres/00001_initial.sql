-- Text that is compared or sorted has COLLATE "C": one order on every machine, and the same as on SQLite.

-- +goose Up
CREATE TABLE users (
    id               text COLLATE "C" PRIMARY KEY,
    username         text COLLATE "C" NOT NULL
                     CHECK (username ~ '^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$' AND lower(username) <> 'self'),
    -- Generated, so that no writer can let two users share a name.
    username_folded  text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(username)) STORED UNIQUE,
    avatar_url       text NOT NULL,
    default_language text NOT NULL,
    public_profile   boolean NOT NULL,
    supporter_months integer NOT NULL CHECK (supporter_months >= 0),
    contributor      boolean NOT NULL,
    created_at       timestamptz NOT NULL
);

-- The accounts at other services that a user signs in with.
CREATE TABLE user_services (
    user_id         text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
    service         text COLLATE "C" NOT NULL,
    service_user_id text NOT NULL,
    PRIMARY KEY (user_id, service)
);

CREATE TABLE access_tokens (
    id           text COLLATE "C" PRIMARY KEY,
    user_id      text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
    hash         bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32), -- SHA-256; the token itself is not kept
    name         text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX access_tokens_by_user ON access_tokens (user_id);

-- Narrow on purpose: content belongs in a table of its own beside this one, visibility in a column with a default.
CREATE TABLE pastes (
    id         text COLLATE "C" PRIMARY KEY,
    owner_id   text COLLATE "C" REFERENCES users ON DELETE CASCADE, -- NULL: anonymous
    created_at timestamptz NOT NULL,
    expires_at timestamptz -- NULL: never
);
-- One owner's ids, newest first, expiry included: an index-only scan.
CREATE INDEX pastes_by_owner ON pastes (owner_id, created_at DESC, id DESC) INCLUDE (expires_at);
-- What is expired and not swept yet.
CREATE INDEX pastes_by_expiry ON pastes (expires_at) WHERE expires_at IS NOT NULL;

-- No foreign key to pastes: a star may come before its paste does. It shows while the paste exists.
CREATE TABLE stars (
    user_id  text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
    paste_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    PRIMARY KEY (user_id, paste_id)
);

-- How many rows pastes has, without scanning it. Triggers keep it, so it holds for every writer, and
-- in the writer's own transaction, so it holds after any crash. Each backend adds to one of 64 slots:
-- with one slot all writers would queue for one row. A low fillfactor keeps the updates on the page.
CREATE TABLE paste_counts (
    slot   integer PRIMARY KEY,
    pastes bigint NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
INSERT INTO paste_counts SELECT slot, 0 FROM generate_series(0, 63) AS slot;

-- The function names its table with the schema, so that it counts for a session with another search
-- path, too; a SET clause would do the same at a tenth of the speed of a one-row insert.
-- +goose StatementBegin
DO $migration$
BEGIN
    EXECUTE format($create$
CREATE FUNCTION count_pastes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change bigint;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE %1$I.paste_counts SET pastes = 0;
        RETURN NULL;
    END IF;
    change := (SELECT count(*) FROM changed);
    IF change = 0 THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        change := -change;
    END IF;
    UPDATE %1$I.paste_counts SET pastes = pastes + change WHERE slot = pg_backend_pid() %% 64;
    IF NOT FOUND THEN
        INSERT INTO %1$I.paste_counts AS c (slot, pastes) VALUES (pg_backend_pid() %% 64, change)
            ON CONFLICT (slot) DO UPDATE SET pastes = c.pastes + excluded.pastes;
    END IF;
    RETURN NULL;
END $$
    $create$, current_schema());
END $migration$;
-- +goose StatementEnd

CREATE TRIGGER pastes_inserted AFTER INSERT ON pastes
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_pastes();
CREATE TRIGGER pastes_deleted AFTER DELETE ON pastes
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_pastes();
CREATE TRIGGER pastes_truncated AFTER TRUNCATE ON pastes
    FOR EACH STATEMENT EXECUTE FUNCTION count_pastes();

-- +goose Down
DROP TABLE stars, pastes, paste_counts, access_tokens, user_services, users;
DROP FUNCTION count_pastes;
