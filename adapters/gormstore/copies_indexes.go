package gormstore

import (
	"context"
	"database/sql"
	"os"
	"strings"
)

// Rows come in the order of the primary key, and so in none in the other indexes: to keep these up to date for each row costs more than
// all else, and the more the larger they are, while made at the end of sorted rows they are cheap. So Begin drops those of
// tables that are still empty, and notes their definitions in copiesTable in the same transaction. End makes them again, as
// does whatever needs them earlier. No server starts on a database that lacks some: its copy has not ended.

// definitionEnd ends each definition in copiesTable.
const definitionEnd = ";\n"

// The indexes of a table, but for those that constraints need: names and definitions, which are one statement each.
const (
	sqliteIndexes = `SELECT printf('"%w"', name), sql FROM sqlite_master WHERE type = 'index' AND tbl_name = $1 AND sql LIKE 'CREATE INDEX %'`
	// Only the owner of a table may drop them.
	postgresIndexes = `SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid)
		FROM pg_index JOIN pg_class AS t ON t.oid = indrelid
		WHERE indrelid = to_regclass($1) AND NOT indisunique AND pg_has_role(t.relowner, 'USAGE')`
)

// addIndexes gives copiesTable the column of definitions, which earlier programs make it without. One of these that goes on with a
// copy knows nothing of indexes, and cannot end it while some are set aside.
func (c *Copies) addIndexes(ctx context.Context) error {
	const column = " ADD COLUMN indexes text NOT NULL DEFAULT '' CHECK (ended IS NULL OR indexes = '')"
	exists := "SELECT count(*) FROM pragma_table_info('" + copiesTable + "') WHERE name = 'indexes'"
	if c.store.file == nil { // only its owner may alter a table, even if there is nothing to alter
		exists = "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('" + copiesTable + "') AND attname = 'indexes'"
	}
	return c.inTx(ctx, func(tx *sql.Tx) error {
		if c.store.file == nil { // SQLite's transaction keeps others out from its start
			if _, err := tx.ExecContext(ctx, "SELECT 1 FROM "+copiesTable+" FOR UPDATE"); err != nil {
				return err
			}
		}
		var columns int
		if err := tx.QueryRowContext(ctx, exists).Scan(&columns); err != nil || columns > 0 {
			return err
		}
		_, err := tx.ExecContext(ctx, "ALTER TABLE "+copiesTable+column)
		return err
	})
}

func (c *Copies) setIndexesAside(ctx context.Context, tx *sql.Tx) error {
	indexes := postgresIndexes
	if c.store.file != nil {
		indexes = sqliteIndexes
		if sorts := writeAnything(os.TempDir()) == nil; !sorts { // SQLite sorts there
			return nil
		}
	}
	for _, table := range copiedTables {
		var filled bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+table.Name+")").Scan(&filled); err != nil {
			return err
		}
		if filled {
			continue
		}
		var (
			name, definition string
			found            [][2]string
		)
		err := inSQL(tx)(ctx, indexes, []any{&name, &definition}, func() error {
			found = append(found, [2]string{name, definition})
			return nil
		}, table.Name)
		if err != nil {
			return err
		}
		for _, index := range found {
			if strings.Contains(index[1], definitionEnd) { // an operator's, with an odd name
				continue
			}
			_, err := tx.ExecContext(ctx, "UPDATE "+copiesTable+" SET indexes = indexes || $1", index[1]+definitionEnd)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "DROP INDEX "+index[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeIndexes makes those again that were set aside, each in a transaction of its own.
func (c *Copies) makeIndexes(ctx context.Context) error {
	noted := "SELECT indexes FROM " + copiesTable
	if c.store.file == nil {
		noted += " FOR UPDATE"
	}
	for more := true; more; {
		err := c.inTx(ctx, func(tx *sql.Tx) error {
			var definitions string
			if err := tx.QueryRowContext(ctx, noted).Scan(&definitions); err != nil {
				return err
			}
			var definition string
			if definition, definitions, more = strings.Cut(definitions, definitionEnd); !more {
				return nil
			}
			if _, err := tx.ExecContext(ctx, definition); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "UPDATE "+copiesTable+" SET indexes = $1", definitions)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// restoreIndexes makes those again that a copy has set aside which has not ended, so that migrations find what they expect.
func (s *Store) restoreIndexes(ctx context.Context) error {
	c := NewCopies(s)
	memory, err := c.Copied(ctx)
	if err != nil || !memory.Begun || memory.Ended {
		return err
	}
	if err := c.addIndexes(ctx); err != nil {
		return translate(err)
	}
	return translate(c.makeIndexes(ctx))
}
