-- A paste says how many users have starred it.

-- +goose Up
CREATE INDEX stars_by_paste ON stars (paste_id);

-- +goose Down
DROP INDEX stars_by_paste;
