-- What an owner shows to everybody, newest first. Built beside those that write, which a transaction does not allow; what an
-- interrupted run has left is removed first.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS public_pastes_by_owner;
CREATE INDEX CONCURRENTLY public_pastes_by_owner ON pastes (owner_id, created_at DESC, id DESC) WHERE visibility = 1;

-- +goose Down
DROP INDEX CONCURRENTLY public_pastes_by_owner;
