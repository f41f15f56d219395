-- How many pastes each client has created without a token, while a limit is set (decision 0050).

-- +goose Up

-- A row for each client that has used some of its quota. Unlogged: what is about addresses goes into no archive of the log and to no
-- replica; after a crash or a failover everybody has the whole quota. Nothing is indexed that changes, so that updates stay in
-- their page.
CREATE UNLOGGED TABLE paste_quotas (
    client  bytea PRIMARY KEY,    -- hash of the salt and an address
    full_at timestamptz NOT NULL, -- when the client has its whole quota again, and the row can go
    taken   integer NOT NULL      -- how much the last statement has taken
) WITH (fillfactor = 50);

CREATE TABLE paste_quota_salt (salt bytea NOT NULL);
INSERT INTO paste_quota_salt SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));

-- +goose Down
DROP TABLE paste_quotas, paste_quota_salt;
