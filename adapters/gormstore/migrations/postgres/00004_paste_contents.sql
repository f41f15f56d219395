-- What pastes hold, beside the narrow table that lists and counts read. Runs while nodes of the version before are serving:
-- everything here is a matter of milliseconds however many pastes there are, once it has the lock.

-- +goose Up

-- Whoever waits for the lock makes all others wait behind it, so it is waited for a moment at a time.
-- +goose StatementBegin
DO $migration$
BEGIN
    -- This lock is in the way of nobody who reads or writes. A vacuum gives way to it when it has been waited for for a
    -- second (deadlock_timeout), longer than the other may be waited for, and does not come back while it is held.
    PERFORM set_config('lock_timeout', '60s', true);
    LOCK TABLE pastes IN SHARE UPDATE EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', '200ms', true);
    FOR attempt IN 1..300 LOOP
        BEGIN
            LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF attempt = 300 THEN
                RAISE;
            END IF;
            PERFORM pg_sleep(0.3);
        END;
    END LOOP;
END $migration$;
-- +goose StatementEnd

-- 0: unlisted, 1: public, 2: private. Without a CHECK, which would read every row.
ALTER TABLE pastes ADD COLUMN visibility smallint NOT NULL DEFAULT 0;

-- One row for each paste with content; those from before have none. Texts can hold U+0000, which the type text cannot.
CREATE TABLE paste_contents (
    paste_id      text COLLATE "C" PRIMARY KEY REFERENCES pastes ON DELETE CASCADE,
    lifetime      text NOT NULL,              -- as it was asked for: 1d
    document      bytea NOT NULL,             -- title, tags and pasties, or a cipher: see encoding.go
    first_edit    bigint NOT NULL DEFAULT 0,  -- position of the oldest edit that is kept
    edits         integer NOT NULL DEFAULT 0, -- how many are kept
    history_bytes bigint NOT NULL DEFAULT 0   -- about what they take, so that readers know before they read it
) WITH (toast_tuple_target = 4096);

-- The history, a row for each entry: an edit adds to it without writing it all again.
CREATE TABLE paste_edits (
    paste_id text COLLATE "C" NOT NULL REFERENCES paste_contents ON DELETE CASCADE,
    position bigint NOT NULL,
    entry    bytea NOT NULL, -- see encoding.go
    PRIMARY KEY (paste_id, position)
);

-- +goose Down
DROP TABLE paste_edits, paste_contents;
ALTER TABLE pastes DROP COLUMN visibility;
