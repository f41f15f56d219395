package gormstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/fault"
)

// copiedTables returns the tables to copy, referenced tables first. It leaves out quotas and addresses of clients,
// attempts to sign in, one-time links, ceremonies of passkeys, and the bookkeeping of the database.
var copiedTables = sync.OnceValue(func() (tables []copies.Table) {
	for _, row := range []any{
		model.User{}, model.UserDeletion{}, model.Identity{}, model.UnlinkedIdentity{}, model.Password{}, model.Passkey{},
		model.Invitation{}, model.AccessToken{},
		model.Paste{}, model.Pasty{}, model.PasteTag{}, model.PasteEdit{}, model.PasteCipher{}, model.PasteText{},
		model.Star{}, model.Tombstone{}, model.FormerName{}, model.AuditEntry{}, model.Block{}, model.Report{},
	} {
		rowSchema, err := schema.Parse(row, new(sync.Map), schema.NamingStrategy{})
		if err != nil {
			panic(err)
		}
		table := copies.Table{Name: rowSchema.Table, Key: len(rowSchema.PrimaryFields)}
		for _, field := range rowSchema.Fields {
			if field.DBName != "" && field.Creatable { // without associations and read-only columns
				table.Columns = append(table.Columns, field.DBName)
			}
		}
		tables = append(tables, table)
	}
	return tables
})

var (
	errOtherRun    = fault.New(fault.Conflict, "Another copy to the same target has started, so this one has stopped.")
	errOtherSource = fault.New(fault.Conflict,
		"The target is an unfinished copy of another database. Copy that one again, or name an empty target.")
)

// Copies is a store as the source or the target of a copy.
type Copies struct{ store *db.Store }

// NewCopies returns the copies of a store.
func NewCopies(store *db.Store) *Copies { return &Copies{store} }

// Tables implements copies.Source.
func (c *Copies) Tables() []copies.Table { return copiedTables() }

// Installation implements copies.Source.
func (c *Copies) Installation(ctx context.Context) (copies.Installation, error) {
	var row model.Installation
	if err := c.store.Read(ctx).Take(&row).Error; err != nil {
		return copies.Installation{}, db.Unreadable(err)
	}
	return copies.Installation{UID: row.UID, Copying: row.CopyingFrom.Valid}, nil
}

// Snapshot implements copies.Source. While it runs, SQLite's log grows and PostgreSQL cannot vacuum.
func (c *Copies) Snapshot(ctx context.Context, read func(copies.Snapshot) error) error {
	return c.store.Snapshot(ctx, func(tx *gorm.DB) error { return read(copySnapshot{tx}) })
}

type copySnapshot struct{ tx *gorm.DB }

// Count implements copies.Snapshot.
func (s copySnapshot) Count(_ context.Context, table copies.Table) (count int64, err error) {
	err = s.tx.Table(table.Name).Count(&count).Error
	return count, db.Translate(err)
}

// Each implements copies.Snapshot.
func (s copySnapshot) Each(_ context.Context, table copies.Table, visit func(copies.Row) error) error {
	rows, err := s.tx.Raw("SELECT " + quoted(table.Columns) + " FROM " + table.Name + " ORDER BY " +
		quoted(table.Columns[:table.Key])).Rows()
	if err != nil {
		return db.Translate(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err reports it
	types, err := rows.ColumnTypes()
	if err != nil {
		return db.Translate(err)
	}
	fields := make([]any, len(types))
	for rows.Next() {
		row := make(copies.Row, len(fields))
		for i := range row {
			fields[i] = &row[i]
		}
		if err := rows.Scan(fields...); err != nil {
			return db.Translate(err)
		}
		for i, value := range row {
			switch value := value.(type) {
			case time.Time:
				row[i] = model.Instant(value)
			case []byte:
				if value == nil { // SQLite's driver returns nil for an empty value
					row[i] = []byte{}
				}
			case int64:
				if types[i].DatabaseTypeName() == "BOOLEAN" { // SQLite stores integers
					row[i] = value != 0
				}
			}
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return db.Translate(rows.Err())
}

func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

// withLock runs change in a transaction during which no other run begins or ends.
func (c *Copies) withLock(ctx context.Context, change func(tx *gorm.DB, row *model.Installation) error) error {
	return c.store.WriteCopy(ctx, func(tx *gorm.DB) error {
		var row model.Installation
		if err := db.ForUpdate(tx).Take(&row).Error; err != nil {
			return err
		}
		return change(tx, &row)
	})
}

// tableNames returns the names of the copied tables.
func tableNames() (names []string) {
	for _, table := range copiedTables() {
		names = append(names, table.Name)
	}
	return names
}

// Begin implements copies.Target. It marks the database with the source and the run. From then on other writers are
// refused.
func (c *Copies) Begin(ctx context.Context, source, run string) error {
	return c.withLock(ctx, func(tx *gorm.DB, row *model.Installation) error {
		markedSource, _, _ := strings.Cut(row.CopyingFrom.String, " ")
		if row.CopyingFrom.Valid && markedSource != source {
			return errOtherSource
		}
		if err := c.store.LockTables(tx, tableNames()); err != nil {
			return err
		}
		for _, table := range slices.Backward(copiedTables()) {
			if row.CopyingFrom.Valid {
				if err := tx.Exec("DELETE FROM " + table.Name).Error; err != nil {
					return err
				}
				continue
			}
			var rows []int
			if err := tx.Raw("SELECT 1 FROM " + table.Name + " LIMIT 1").Scan(&rows).Error; err != nil {
				return err
			}
			if len(rows) > 0 {
				return copies.ErrNotEmpty
			}
		}
		return tx.Model(row).Update("copying_from", source+" "+run).Error
	})
}

// withRun is withLock for a run. It fails unless the database is marked with that run.
func (c *Copies) withRun(
	ctx context.Context, run string, change func(tx *gorm.DB, row *model.Installation) error,
) error {
	return c.withLock(ctx, func(tx *gorm.DB, row *model.Installation) error {
		if _, markedRun, ok := strings.Cut(row.CopyingFrom.String, " "); !ok || markedRun != run {
			return errOtherRun
		}
		return change(tx, row)
	})
}

// insertRows is the number of rows in one INSERT of a copy.
const insertRows = 100

// Write implements copies.Target.
func (c *Copies) Write(ctx context.Context, run string, table copies.Table, rows []copies.Row) error {
	row := "(?" + strings.Repeat(", ?", len(table.Columns)-1) + ")"
	return c.withRun(ctx, run, func(tx *gorm.DB, _ *model.Installation) error {
		for batch := range slices.Chunk(rows, insertRows) {
			values := make([]any, 0, len(batch)*len(table.Columns))
			for _, value := range slices.Concat(batch...) {
				if value == nil {
					value = sql.NullString{} // GORM would write NULL into the statement
				}
				values = append(values, value)
			}
			statement := "INSERT INTO " + table.Name + " (" + quoted(table.Columns) + ") VALUES " + row +
				strings.Repeat(", "+row, len(batch)-1)
			if err := tx.Exec(statement, values...).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// End implements copies.Target.
func (c *Copies) End(ctx context.Context, run string) error {
	err := c.withRun(ctx, run, func(tx *gorm.DB, row *model.Installation) error {
		return tx.Model(row).Update("copying_from", nil).Error
	})
	if err == nil {
		c.store.Analyze(ctx)
	}
	return err
}
