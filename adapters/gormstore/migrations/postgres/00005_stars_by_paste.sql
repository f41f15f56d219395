-- A paste says how many users have starred it. Built beside those that write, which a transaction does not allow; what an
-- interrupted run has left is removed first.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS stars_by_paste;
CREATE INDEX CONCURRENTLY stars_by_paste ON stars (paste_id);

-- +goose Down
DROP INDEX CONCURRENTLY stars_by_paste;
