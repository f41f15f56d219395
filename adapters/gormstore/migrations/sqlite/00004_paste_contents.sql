-- What pastes hold, beside the narrow table that lists and counts read.

-- +goose Up

-- 0: unlisted, 1: public, 2: private.
ALTER TABLE pastes ADD COLUMN visibility INTEGER NOT NULL DEFAULT 0;

-- One row for each paste with content; those from before have none.
CREATE TABLE paste_contents (
    paste_id      TEXT NOT NULL PRIMARY KEY REFERENCES pastes ON DELETE CASCADE,
    lifetime      TEXT NOT NULL,              -- as it was asked for: 1d
    document      BLOB NOT NULL,              -- title, tags and pasties, or a cipher: see encoding.go
    first_edit    INTEGER NOT NULL DEFAULT 0, -- position of the oldest edit that is kept
    edits         INTEGER NOT NULL DEFAULT 0, -- how many are kept
    history_bytes INTEGER NOT NULL DEFAULT 0  -- about what they take, so that readers know before they read it
);

-- The history, a row for each entry: an edit adds to it without writing it all again.
CREATE TABLE paste_edits (
    paste_id TEXT NOT NULL REFERENCES paste_contents ON DELETE CASCADE,
    position INTEGER NOT NULL,
    entry    BLOB NOT NULL, -- see encoding.go
    PRIMARY KEY (paste_id, position)
);

-- +goose Down
DROP TABLE paste_edits;
DROP TABLE paste_contents;
ALTER TABLE pastes DROP COLUMN visibility;
