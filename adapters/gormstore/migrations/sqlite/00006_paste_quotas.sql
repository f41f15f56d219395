-- How many pastes each client has created without a token, while a limit is set (decision 0050).

-- +goose Up

-- A row for each client that has used some of its quota.
CREATE TABLE paste_quotas (
    client  BLOB NOT NULL PRIMARY KEY, -- hash of the salt and an address
    full_at TIMESTAMP NOT NULL         -- when the client has its whole quota again, and the row can go
) WITHOUT ROWID;

CREATE TABLE paste_quota_salt (salt BLOB NOT NULL);
INSERT INTO paste_quota_salt VALUES (randomblob(32));

-- +goose Down
DROP TABLE paste_quotas;
DROP TABLE paste_quota_salt;
