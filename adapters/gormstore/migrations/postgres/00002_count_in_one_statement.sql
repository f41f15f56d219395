-- +goose Up

-- Counting the rows of a statement and adding them to the slot in one statement instead of two: a trigger
-- spends most of its time on starting statements.
-- +goose StatementBegin
DO $migration$
BEGIN
    EXECUTE format($create$
CREATE OR REPLACE FUNCTION count_pastes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE %1$I.paste_counts SET pastes = pastes + (SELECT count(*) FROM changed) WHERE slot = pg_backend_pid() %% 64;
        IF NOT FOUND THEN
            INSERT INTO %1$I.paste_counts AS c (slot, pastes) SELECT pg_backend_pid() %% 64, count(*) FROM changed
                ON CONFLICT (slot) DO UPDATE SET pastes = c.pastes + excluded.pastes;
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE %1$I.paste_counts SET pastes = pastes - (SELECT count(*) FROM changed) WHERE slot = pg_backend_pid() %% 64;
        IF NOT FOUND THEN
            INSERT INTO %1$I.paste_counts AS c (slot, pastes) SELECT pg_backend_pid() %% 64, -count(*) FROM changed
                ON CONFLICT (slot) DO UPDATE SET pastes = c.pastes + excluded.pastes;
        END IF;
    ELSE
        UPDATE %1$I.paste_counts SET pastes = 0;
    END IF;
    RETURN NULL;
END $$
    $create$, current_schema());
END $migration$;
-- +goose StatementEnd

-- +goose Down
-- Either function serves either schema.
SELECT 1;
