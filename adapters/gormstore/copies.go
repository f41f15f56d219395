package gormstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/fault"
)

// copiedTables are the tables that hold what users and operators have stored, those that others refer to first. What
// triggers count, what migrations keep for themselves, the quotas of clients and copiesTable are a database's own, and are not copied.
var copiedTables = []copiedTable{
	{
		Table: copies.Table{Name: "users", Key: 1, Unique: []int{1}},
		columns: []copiedColumn{
			{"id", textValue}, {"username", textValue}, {"avatar_url", textValue}, {"default_language", textValue},
			{"public_profile", boolValue}, {"supporter_months", intValue}, {"contributor", boolValue}, {"created_at", timeValue},
		},
	},
	{
		Table:   copies.Table{Name: "user_services", Key: 2},
		columns: []copiedColumn{{"user_id", textValue}, {"service", textValue}, {"service_user_id", textValue}},
	},
	{
		Table: copies.Table{Name: "access_tokens", Key: 1, Unique: []int{2}},
		columns: []copiedColumn{
			{"id", textValue}, {"user_id", textValue}, {"hash", bytesValue}, {"name", textValue}, {"created_at", timeValue},
			{"expires_at", timeOrNull}, {"last_used_at", timeOrNull}, {"revoked_at", timeOrNull},
		},
	},
	{
		Table: copies.Table{Name: "pastes", Key: 1},
		columns: []copiedColumn{
			{"id", textValue}, {"owner_id", textOrNull}, {"created_at", timeValue}, {"expires_at", timeOrNull}, {"visibility", intValue},
		},
	},
	{
		Table: copies.Table{Name: "paste_contents", Key: 1},
		columns: []copiedColumn{
			{"paste_id", textValue}, {"lifetime", textValue}, {"document", bytesValue}, {"first_edit", intValue}, {"edits", intValue},
			{"history_bytes", intValue},
		},
	},
	{
		Table:   copies.Table{Name: "paste_edits", Key: 2},
		columns: []copiedColumn{{"paste_id", textValue}, {"position", intValue}, {"entry", bytesValue}},
	},
	{
		Table:   copies.Table{Name: "stars", Key: 2},
		columns: []copiedColumn{{"user_id", textValue}, {"paste_id", textValue}, {"position", intValue}},
	},
}

// copiesTable is where a database remembers that it is a copy. It is made by the first copy to it, in one row.
const copiesTable = "gluepot_copy"

type copiedTable struct {
	copies.Table
	columns []copiedColumn
}

type copiedColumn struct {
	name string
	kind valueKind
}

type valueKind uint8

const (
	textValue valueKind = iota
	textOrNull
	intValue
	boolValue
	bytesValue
	timeValue
	timeOrNull
)

var (
	errOtherCopy = fault.New(fault.Conflict, "Another copy to the same target has begun: this one is over.")
	errUnended   = fault.New(fault.Unavailable, "The database is a copy that has not ended, and so lacks some of what it should hold. "+
		"Run 'gluepot copy' with --resume.")
)

// Copies lets a store be copied, and be copied to.
type Copies struct{ store *Store }

// NewCopies returns the copies of a store, which must do nothing else meanwhile.
func NewCopies(store *Store) *Copies { return &Copies{store} }

var (
	_ copies.Source = (*Copies)(nil)
	_ copies.Target = (*Copies)(nil)
)

// Tables implements copies.Source.
func (c *Copies) Tables() []copies.Table {
	tables := make([]copies.Table, len(copiedTables))
	for i, t := range copiedTables {
		tables[i] = t.Table
		for _, column := range t.columns {
			tables[i].Columns = append(tables[i].Columns, column.name)
		}
	}
	return tables
}

func described(table copies.Table) copiedTable {
	for _, t := range copiedTables {
		if t.Name == table.Name {
			return t
		}
	}
	panic("there is no table " + table.Name)
}

// names returns the first columns, all of them if n is 0.
func (t copiedTable) names(n int) []string {
	if n == 0 {
		n = len(t.columns)
	}
	names := make([]string, n)
	for i := range names {
		names[i] = t.columns[i].name
	}
	return names
}

func (t copiedTable) selection() string {
	return "SELECT " + strings.Join(t.names(0), ", ") + " FROM " + t.Name
}

func (t copiedTable) key() string { return strings.Join(t.names(t.Key), ", ") }

// placeholders returns $1, $2 and so on, n of them.
func placeholders(n int) string {
	var text strings.Builder
	for i := range n {
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "$%d", 1+i)
	}
	return text.String()
}

// update is a statement for a row's key and then its other columns.
func (t copiedTable) update() string {
	var text strings.Builder
	for i, column := range t.columns[t.Key:] {
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%s = $%d", column.name, t.Key+i+1)
	}
	return "UPDATE " + t.Name + " SET " + text.String() + " WHERE (" + t.key() + ") = (" + placeholders(t.Key) + ")"
}

func (t copiedTable) remove() string {
	return "DELETE FROM " + t.Name + " WHERE (" + t.key() + ") = (" + placeholders(t.Key) + ")"
}

// scanner takes rows of a table off an answer.
type scanner struct {
	kinds  []valueKind
	fields []any
}

func (t copiedTable) scanner() *scanner {
	s := &scanner{}
	for _, column := range t.columns {
		s.kinds = append(s.kinds, column.kind)
		switch column.kind {
		case textValue:
			s.fields = append(s.fields, new(string))
		case textOrNull:
			s.fields = append(s.fields, new(sql.NullString))
		case intValue:
			s.fields = append(s.fields, new(int64))
		case boolValue:
			s.fields = append(s.fields, new(bool))
		case bytesValue:
			s.fields = append(s.fields, new([]byte))
		case timeValue, timeOrNull:
			s.fields = append(s.fields, new(sql.NullTime))
		}
	}
	return s
}

// row returns what was scanned last. The fields can be scanned to again.
func (s *scanner) row() copies.Row {
	row := make(copies.Row, len(s.fields))
	for i, field := range s.fields {
		switch field := field.(type) {
		case *string:
			row[i] = *field
		case *sql.NullString:
			if field.Valid {
				row[i] = field.String
			}
		case *int64:
			row[i] = *field
		case *bool:
			row[i] = *field
		case *[]byte:
			row[i], *field = *field, nil
		case *sql.NullTime:
			if field.Valid {
				row[i] = instant(field.Time)
			}
		}
	}
	return row
}

// query runs a statement and calls read after each row that was scanned into fields.
type query func(ctx context.Context, statement string, fields []any, read func() error, args ...any) error

// inSQL is the query of an SQLite database or transaction.
func inSQL(db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}) query {
	return func(ctx context.Context, statement string, fields []any, read func() error, args ...any) error {
		rows, err := db.QueryContext(ctx, statement, args...) //nolint:rowserrcheck // scanRows asks
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // scanRows asks Err
		return scanRows(rows, fields, read)
	}
}

func inPostgres(conn *pgx.Conn) query {
	return func(ctx context.Context, statement string, fields []any, read func() error, args ...any) error {
		return queryPostgresRows(ctx, conn, statement, fields, read, args...)
	}
}

// reading lends what reads a store, outside a transaction.
func (c *Copies) reading(ctx context.Context, read func(context.Context, query) error) error {
	if c.store.file != nil {
		return translate(read(ctx, inSQL(c.store.sql.DB)))
	}
	return lendConn(ctx, c.store.sql.DB, func(ctx context.Context, conn *pgx.Conn) error { return read(ctx, inPostgres(conn)) })
}

// Snapshot implements copies.Source. On SQLite the log grows while it lasts by what others write; on PostgreSQL what they
// remove stays on the disk that long.
func (c *Copies) Snapshot(ctx context.Context, read func(copies.Snapshot) error) error {
	var failed error
	visit := func(q query) error {
		failed = read(snapshot{q})
		return failed
	}
	err := c.snapshot(ctx, visit)
	if failed != nil {
		return failed
	}
	return err
}

func (c *Copies) snapshot(ctx context.Context, read func(query) error) error {
	if c.store.file != nil {
		tx, err := c.store.sql.DB.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return translate(err)
		}
		defer tx.Rollback() //nolint:errcheck // there is nothing to keep
		return read(inSQL(tx))
	}
	return lendConn(ctx, c.store.sql.DB, func(ctx context.Context, conn *pgx.Conn) error {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			return err
		}
		defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // there is nothing to keep
		return read(inPostgres(conn))
	})
}

type snapshot struct{ query query }

// Count implements copies.Snapshot.
func (s snapshot) Count(ctx context.Context, table copies.Table) (count int64, err error) {
	err = s.query(ctx, "SELECT count(*) FROM "+described(table).Name, []any{&count}, func() error { return nil })
	return count, translate(err)
}

// Each implements copies.Snapshot.
func (s snapshot) Each(ctx context.Context, table copies.Table, visit func(copies.Row) error) error {
	t := described(table)
	return eachRow(ctx, s.query, t, t.selection()+" ORDER BY "+t.key(), visit)
}

// eachRow translates errors, but not those of visit.
func eachRow(ctx context.Context, q query, t copiedTable, statement string, visit func(copies.Row) error, args ...any) error {
	var (
		scanned = t.scanner()
		failed  error
	)
	err := q(ctx, statement, scanned.fields, func() error {
		failed = visit(scanned.row())
		return failed
	}, args...)
	if failed != nil {
		return failed
	}
	return translate(err)
}

// After implements copies.Target.
func (c *Copies) After(ctx context.Context, table copies.Table, key copies.Key, limit int) (marks []copies.Mark, err error) {
	t := described(table)
	where := ""
	if key != nil {
		where = " WHERE (" + t.key() + ") > (" + placeholders(t.Key) + ")"
	}
	statement := fmt.Sprintf("%s%s ORDER BY %s LIMIT %d", t.selection(), where, t.key(), limit)
	err = c.reading(ctx, func(ctx context.Context, q query) error {
		return eachRow(ctx, q, t, statement, func(row copies.Row) error {
			marks = append(marks, copies.NewMark(table, row))
			return nil
		}, key...)
	})
	return marks, err
}

// Copied implements copies.Source.
func (c *Copies) Copied(ctx context.Context) (memory copies.Memory, err error) {
	exists := `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '` + copiesTable + `'`
	if c.store.file == nil {
		exists = `SELECT count(*) FROM pg_class WHERE oid = to_regclass('` + copiesTable + `')`
	}
	var tables int
	err = c.reading(ctx, func(ctx context.Context, q query) error {
		if err := q(ctx, exists, []any{&tables}, func() error { return nil }); err != nil || tables == 0 {
			return err
		}
		var ended sql.NullString
		return q(ctx, "SELECT ended FROM "+copiesTable, []any{&ended}, func() error {
			memory = copies.Memory{Begun: true, Ended: ended.Valid, Sum: ended.String}
			return nil
		})
	})
	return memory, err
}

// Whole returns nil unless the database is a copy that has not ended. It fails with fault.Unavailable.
func (s *Store) Whole(ctx context.Context) error {
	memory, err := NewCopies(s).Copied(ctx)
	if err == nil && memory.Begun && !memory.Ended {
		return errUnended
	}
	return err
}

// Begin implements copies.Target.
func (c *Copies) Begin(ctx context.Context, run string) error {
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS ` + copiesTable + ` (id integer PRIMARY KEY CHECK (id = 1), run text NOT NULL, ended text)`,
		`INSERT INTO ` + copiesTable + ` (id, run) VALUES (1, '') ON CONFLICT (id) DO NOTHING`,
	} {
		if _, err := c.store.sql.ExecContext(ctx, statement); err != nil {
			return translate(err)
		}
	}
	if err := c.addIndexes(ctx); err != nil {
		return translate(err)
	}
	return translate(c.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE `+copiesTable+` SET run = $1, ended = NULL`, run); err != nil {
			return err
		}
		return c.setIndexesAside(ctx, tx)
	}))
}

// End implements copies.Target. PostgreSQL then looks at the tables, so that its planner knows how large they are.
func (c *Copies) End(ctx context.Context, run, sum string) error {
	if err := c.makeIndexes(ctx); err != nil {
		return translate(err)
	}
	if c.store.file == nil {
		for _, table := range copiedTables {
			if _, err := c.store.sql.ExecContext(ctx, "ANALYZE "+table.Name); err != nil {
				return translate(err)
			}
		}
	}
	result, err := c.store.sql.ExecContext(ctx, `UPDATE `+copiesTable+` SET ended = $2 WHERE run = $1`, run, sum)
	if err != nil {
		return translate(err)
	}
	if changed, err := result.RowsAffected(); err != nil || changed == 0 {
		return translate(cmp.Or[error](err, errOtherCopy))
	}
	return nil
}
