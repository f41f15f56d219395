-- What an owner shows to everybody, newest first.

-- +goose Up
CREATE INDEX public_pastes_by_owner ON pastes (owner_id, created_at DESC, id DESC) WHERE visibility = 1;

-- +goose Down
DROP INDEX public_pastes_by_owner;
