-- Text that is compared or sorted has COLLATE "C": one order on every machine, and the same as on SQLite.
--
-- Titles, tags, code and history can hold U+0000, which the type text cannot: it is stored as U+001A and "0", and U+001A as
-- U+001A and "1" (see adapters/gormstore/model/text.go). All other text is stored as it is.

-- +goose Up

-- One row about the database itself.
CREATE TABLE installation (
    id             integer PRIMARY KEY CHECK (id = 1),
    uid            text NOT NULL,  -- random, so that a copy knows where it came from
    oldest_version bigint NOT NULL, -- programs must know this migration to work with the database
    copying_from   text -- the uid of the source while a copy to this database has not ended
);
INSERT INTO installation (id, uid, oldest_version) VALUES (1, gen_random_uuid()::text, 1);

CREATE TABLE users (
    id               text COLLATE "C" PRIMARY KEY,
    username         text COLLATE "C" NOT NULL
                     CHECK (username ~ '^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$' AND lower(username) <> 'self'),
    -- Generated, so that no writer can let two users share a name.
    username_folded  text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(username)) STORED UNIQUE,
    avatar_url       text NOT NULL,
    default_language text NOT NULL,
    public_profile   boolean NOT NULL,
    show_tags        boolean NOT NULL DEFAULT false, -- of public pastes, to others
    supporter_months integer NOT NULL CHECK (supporter_months >= 0),
    contributor      boolean NOT NULL,
    created_at       timestamptz NOT NULL,
    admin            boolean NOT NULL DEFAULT false, -- may moderate on pages
    suspended        boolean NOT NULL DEFAULT false, -- by an operator: no token of the user is taken
    pastes_hidden    boolean NOT NULL DEFAULT false, -- while the user is suspended
    profile_closed   boolean NOT NULL DEFAULT false -- the profile was made private here: no import opens it
);

-- Deletions of users that have begun, until the user is gone with everything. A sweep finishes what was interrupted.
CREATE TABLE user_deletions (
    user_id  text COLLATE "C" PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    keeps    boolean NOT NULL, -- pastes, without an owner
    until    timestamptz,      -- when those expire at the latest; NULL: no change
    lifetime text NOT NULL     -- of those that it shortens
);

-- The accounts at other services that a user signs in with.
CREATE TABLE identities (
    user_id  text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
    provider text COLLATE "C" NOT NULL,
    subject  text COLLATE "C" NOT NULL, -- the user's id there
    imported boolean NOT NULL DEFAULT false, -- and not linked here: the next import may replace or remove it
    PRIMARY KEY (user_id, provider),
    CONSTRAINT identities_by_subject UNIQUE (provider, subject)
);

-- The accounts that were unlinked from a user, so that no import links them again.
CREATE TABLE unlinked_identities (
    user_id  text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
    provider text COLLATE "C" NOT NULL,
    subject  text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, provider, subject)
);

-- The passwords of those who have one.
CREATE TABLE passwords (
    user_id text COLLATE "C" PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    hash    text NOT NULL -- in the format $argon2id$…
);

-- The public halves of passkeys (WebAuthn).
CREATE TABLE passkeys (
    id              text COLLATE "C" PRIMARY KEY, -- in base64url, as the authenticator has drawn it
    user_id         text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
    name            text NOT NULL,
    public_key      bytea NOT NULL, -- as COSE
    counter         bigint NOT NULL, -- of its signatures; 0: its authenticator does not count
    backup_eligible boolean NOT NULL,
    created_at      timestamptz NOT NULL,
    last_used_at    timestamptz
);
CREATE INDEX passkeys_by_user ON passkeys (user_id);

-- The making or use of passkeys that has begun, for five minutes.
CREATE TABLE passkey_ceremonies (
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32), -- SHA-256 of what the browser's cookie holds
    purpose    text NOT NULL,
    challenge  text NOT NULL,
    user_id    text COLLATE "C" NOT NULL, -- who gets the passkey, perhaps a user to come; empty: one is used
    name       text NOT NULL, -- of a user to come
    expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_ceremonies_by_expiry ON passkey_ceremonies (expires_at);

-- Links with which their holders choose a way in, once.
CREATE TABLE one_time_links (
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32), -- SHA-256; the code itself is not kept
    user_id    text COLLATE "C" REFERENCES users ON DELETE CASCADE, -- NULL: the holder becomes the first administrator
    offered_by text COLLATE "C", -- the administrator who made it, and has to be one still; NULL: the operator
    expires_at timestamptz NOT NULL
);
CREATE INDEX one_time_links_by_user ON one_time_links (user_id);

-- Visitors on their way to an account, for ten minutes: at a provider, or choosing a name.
CREATE TABLE sign_in_attempts (
    hash          bytea PRIMARY KEY CHECK (octet_length(hash) = 32), -- SHA-256 of what the browser's cookie holds
    source        text NOT NULL, -- the provider's name in paths
    state         text NOT NULL, -- this and the next two: empty once the provider has vouched
    nonce         text NOT NULL,
    verifier      text NOT NULL,
    provider      text NOT NULL, -- this and the next three: empty until then
    subject       text NOT NULL,
    name          text NOT NULL, -- that is proposed
    avatar_url    text NOT NULL,
    next          text NOT NULL, -- the path to go on to
    invitation_id text,
    user_id       text, -- who wants another identity
    expires_at    timestamptz NOT NULL
);
CREATE INDEX sign_in_attempts_by_expiry ON sign_in_attempts (expires_at);

CREATE TABLE invitations (
    id         text COLLATE "C" PRIMARY KEY,
    hash       bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32), -- SHA-256; the code itself is not kept
    uses       integer NOT NULL CHECK (uses >= 0), -- that are left
    note       text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Access tokens, and the sessions of browsers.
CREATE TABLE access_tokens (
    id           text COLLATE "C" PRIMARY KEY,
    user_id      text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
    kind         smallint NOT NULL, -- 0: an access token, 1: a session
    scope        smallint NOT NULL, -- 0: write, 1: read
    parent_id    text COLLATE "C",  -- of a session: the access token that it ends with
    hash         bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32), -- SHA-256; the token itself is not kept
    name         text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX access_tokens_by_user ON access_tokens (user_id);

-- The numbers of rows that belong to a paste let a reader leave out the tables that hold none.
CREATE TABLE pastes (
    id            text COLLATE "C" PRIMARY KEY,
    owner_id      text COLLATE "C" REFERENCES users ON DELETE CASCADE, -- NULL: anonymous
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz,           -- NULL: never
    edited_at     timestamptz,           -- NULL: never
    burns         boolean NOT NULL DEFAULT false, -- after reading
    lifetime      text NOT NULL,         -- as it was asked for: 1d
    visibility    smallint NOT NULL,     -- 0: unlisted, 1: public, 2: private
    unshared      boolean NOT NULL DEFAULT false, -- an edit here took it from readers: no import gives it back to them
    title         text COLLATE "C" NOT NULL,
    encrypted     boolean NOT NULL,      -- paste_ciphers has what it holds
    pasties       integer NOT NULL,      -- how many
    tags          integer NOT NULL,      -- how many
    edits         integer NOT NULL,      -- how many entries the history has
    content_bytes bigint NOT NULL,       -- of titles and code
    history_bytes bigint NOT NULL,       -- of the history
    delete_key    bytea,                 -- SHA-256 of what deletes an anonymous paste
    origin        text COLLATE "C",      -- the paste that it is a fork of, which may be gone; NULL: none
    -- Since when only operators know of it, until it is restored or purged; NULL: it was not removed. Nothing else may read it,
    -- count it or change it, and it has no row in paste_texts.
    removed_at    timestamptz,
    hidden        boolean NOT NULL DEFAULT false, -- removed only until its owner is suspended no longer
    CHECK (removed_at IS NOT NULL OR NOT hidden)
);
-- One owner's pastes, newest first; their ids with an index-only scan.
CREATE INDEX pastes_by_owner ON pastes (owner_id, created_at DESC, id DESC) INCLUDE (expires_at, removed_at);
CREATE INDEX public_pastes_by_owner ON pastes (owner_id, created_at DESC, id DESC) WHERE visibility = 1;
-- Everybody's, newest first, for operators.
CREATE INDEX pastes_by_creation ON pastes (created_at DESC, id DESC);
-- What has expired and was not swept yet.
CREATE INDEX pastes_by_expiry ON pastes (expires_at) INCLUDE (removed_at) WHERE expires_at IS NOT NULL;
CREATE INDEX removed_pastes ON pastes (created_at DESC, id DESC) WHERE removed_at IS NOT NULL;
-- The newest that searches and the list of recent pastes show to everybody.
CREATE INDEX public_pastes ON pastes (created_at DESC, id DESC) WHERE visibility = 1;

CREATE TABLE pasties (
    paste_id text COLLATE "C" NOT NULL REFERENCES pastes ON DELETE CASCADE,
    position integer NOT NULL, -- from 0
    id       text COLLATE "C" NOT NULL, -- unique within its paste, except in some that were imported
    title    text COLLATE "C" NOT NULL,
    language text NOT NULL,
    code     text NOT NULL,
    lines    integer NOT NULL GENERATED ALWAYS AS ( -- for lists, which do not read the code
        octet_length(code) - octet_length(replace(code, E'\n', ''))
        + CASE WHEN code = '' OR right(code, 1) = E'\n' THEN 0 ELSE 1 END
    ) STORED,
    PRIMARY KEY (paste_id, position)
) WITH (toast_tuple_target = 4096);

CREATE TABLE paste_tags (
    paste_id text COLLATE "C" NOT NULL REFERENCES pastes ON DELETE CASCADE,
    tag      text COLLATE "C" NOT NULL,
    position integer NOT NULL, -- from 0, in byte order
    PRIMARY KEY (paste_id, position)
);

-- The history, a row for each entry.
CREATE TABLE paste_edits (
    paste_id  text COLLATE "C" NOT NULL REFERENCES pastes ON DELETE CASCADE,
    position  bigint NOT NULL, -- the oldest first
    id        text COLLATE "C" NOT NULL,
    number    bigint NOT NULL, -- of the request that made it, from 0
    type      smallint NOT NULL,
    metadata  text NOT NULL, -- a JSON array of texts
    text      text NOT NULL,
    edited_at timestamptz NOT NULL,
    PRIMARY KEY (paste_id, position)
);

-- What encrypted pastes hold.
CREATE TABLE paste_ciphers (
    paste_id text COLLATE "C" PRIMARY KEY REFERENCES pastes ON DELETE CASCADE,
    version  smallint NOT NULL,          -- of the format; 0: PasteMyst's
    data     bytea NOT NULL,
    key      bytea NOT NULL,
    salt     bytea NOT NULL
);

-- What searches look through: a row for each paste that has an owner and is not encrypted. Everything is folded
-- (domain/search), and has a line end at the end of each text, so the rows are those of the pastes in other words.
CREATE TABLE paste_texts (
    paste_id  text COLLATE "C" PRIMARY KEY REFERENCES pastes ON DELETE CASCADE,
    public    boolean NOT NULL, -- the paste is: the index has no other, so that no search of others depends on them
    titles    text NOT NULL,
    text      text NOT NULL, -- titles and code
    tags      text NOT NULL,
    languages text NOT NULL
);

-- Returns what the index of searches is on, as CREATE INDEX has it. Without pg_trgm, which the database may lack or refuse to the
-- user, it returns NULL. The extension may be in any schema: it belongs to the database.
-- +goose StatementBegin
CREATE FUNCTION prepare_search() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    home name;
BEGIN
    BEGIN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXCEPTION WHEN OTHERS THEN
        RAISE NOTICE 'pg_trgm: %', SQLERRM;
    END;
    SELECT n.nspname INTO home FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
    IF home IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN format('paste_texts USING gin (titles %1$I.gin_trgm_ops, text %1$I.gin_trgm_ops, tags %1$I.gin_trgm_ops, '
        'languages %1$I.gin_trgm_ops) WHERE public', home);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
DECLARE
    definition text := prepare_search();
BEGIN
    IF definition IS NOT NULL THEN
        EXECUTE 'CREATE INDEX paste_texts_by_trigram ON ' || definition;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN -- of the schema that the extension is in
    RAISE NOTICE 'pg_trgm: %', SQLERRM;
END $$;
-- +goose StatementEnd

-- No foreign key to pastes: a star may come before its paste does. It shows while the paste exists.
CREATE TABLE stars (
    user_id  text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
    paste_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    PRIMARY KEY (user_id, paste_id)
);
CREATE INDEX stars_by_paste ON stars (paste_id);

-- Names that users gave up, which are not given to others for a while. The user may be deleted.
CREATE TABLE former_names (
    username_folded text COLLATE "C" PRIMARY KEY,
    user_id         text COLLATE "C" NOT NULL,
    given_up_at     timestamptz NOT NULL
);

-- What was deleted, so that an import does not bring it back.
CREATE TABLE tombstones (
    kind       text COLLATE "C" NOT NULL CHECK (kind IN ('paste', 'user')),
    id         text COLLATE "C" NOT NULL,
    deleted_at timestamptz NOT NULL,
    removed_by text NOT NULL DEFAULT '', -- the operator or administrator; empty: it was not removed
    reason     text NOT NULL DEFAULT '',
    told       boolean NOT NULL DEFAULT false, -- its page says that it was removed
    PRIMARY KEY (kind, id)
);

-- What operators and administrators have done.
CREATE TABLE audit_log (
    id     text COLLATE "C" PRIMARY KEY,
    at     timestamptz NOT NULL,
    actor  text NOT NULL, -- the name of an administrator, or "operator"
    act    text NOT NULL, -- such as paste.remove
    target text NOT NULL, -- what it was done to
    reason text NOT NULL
);
CREATE INDEX audit_log_by_time ON audit_log (at DESC, id DESC);

-- Networks that may read, and neither write nor sign in.
CREATE TABLE blocks (
    network    text COLLATE "C" PRIMARY KEY, -- such as 192.0.2.0/24
    created_at timestamptz NOT NULL,
    expires_at timestamptz, -- NULL: never
    reason     text NOT NULL
);

-- What readers say against pastes and no operator has closed.
CREATE TABLE reports (
    id         text COLLATE "C" PRIMARY KEY, -- begins with that of its paste
    paste_id   text COLLATE "C" NOT NULL REFERENCES pastes ON DELETE CASCADE,
    reason     text NOT NULL,
    text       text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX reports_by_paste ON reports (paste_id);
CREATE INDEX reports_by_creation ON reports (created_at, id);

-- A row for each client that has used some of its quota of anonymous pastes. Unlogged: what is about addresses goes into no archive
-- of the log and to no replica. After a crash or a failover every client has its whole quota.
CREATE UNLOGGED TABLE paste_quotas (
    client  bytea PRIMARY KEY,   -- hash of the salt and an address
    full_at timestamptz NOT NULL -- when the client has its whole quota again, and the row can go
) WITH (fillfactor = 50);
CREATE TABLE paste_quota_salt (salt bytea NOT NULL);
INSERT INTO paste_quota_salt SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));

-- The addresses that pastes were created from, if operators keep them. Unlogged as paste_quotas is. A row outlives its paste.
CREATE UNLOGGED TABLE paste_origins (
    paste_id   text COLLATE "C" PRIMARY KEY,
    address    text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX paste_origins_by_creation ON paste_origins (created_at);

-- How many pastes there are that were not removed, without scanning them. Triggers keep it, so it holds for every writer, and in the writer's own transaction, so
-- it holds after any crash. Each backend adds to one of 64 slots: with one slot all writers would queue for one row. A low fillfactor
-- keeps the updates on the page.
CREATE TABLE paste_counts (
    slot   integer PRIMARY KEY,
    pastes bigint NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
INSERT INTO paste_counts SELECT slot, 0 FROM generate_series(0, 63) AS slot;

-- The function names its table with the schema, so that it counts for a session with another search path, too; a SET clause would do the
-- same at a tenth of the speed of a one-row insert.
-- +goose StatementBegin
DO $migration$
BEGIN
    EXECUTE format($create$
CREATE FUNCTION count_pastes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE %1$I.paste_counts SET pastes = pastes + (SELECT count(*) FROM changed WHERE removed_at IS NULL)
            WHERE slot = pg_backend_pid() %% 64;
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE %1$I.paste_counts SET pastes = pastes - (SELECT count(*) FROM changed WHERE removed_at IS NULL)
            WHERE slot = pg_backend_pid() %% 64;
    ELSIF TG_OP = 'UPDATE' THEN
        UPDATE %1$I.paste_counts SET pastes = pastes + CASE WHEN NEW.removed_at IS NULL THEN 1 ELSE -1 END
            WHERE slot = pg_backend_pid() %% 64;
    ELSE
        UPDATE %1$I.paste_counts SET pastes = 0;
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
CREATE TRIGGER pastes_removed AFTER UPDATE OF removed_at ON pastes
    FOR EACH ROW WHEN ((OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL)) EXECUTE FUNCTION count_pastes();
CREATE TRIGGER pastes_truncated AFTER TRUNCATE ON pastes
    FOR EACH STATEMENT EXECUTE FUNCTION count_pastes();

-- +goose Down
DROP TABLE installation, reports, blocks, audit_log, former_names, tombstones, stars, paste_texts, paste_ciphers, paste_edits, paste_tags,
    pasties, pastes, paste_counts, paste_quotas, paste_quota_salt, paste_origins, access_tokens, invitations, sign_in_attempts, one_time_links, passkey_ceremonies, passkeys, passwords, unlinked_identities, identities, user_deletions, users;
DROP FUNCTION count_pastes, prepare_search;
