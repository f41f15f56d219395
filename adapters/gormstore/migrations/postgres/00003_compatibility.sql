-- What a program must know to work with this database (decision 0018): the number of a migration. A migration that programs
-- from before it cannot live with raises it to its own number or to that of the first that can.

-- +goose Up
CREATE TABLE schema_compatibility (
    id             integer PRIMARY KEY CHECK (id = 1), -- one row
    oldest_version bigint NOT NULL
);
INSERT INTO schema_compatibility (id, oldest_version) VALUES (1, 1);

-- +goose Down
DROP TABLE schema_compatibility;
