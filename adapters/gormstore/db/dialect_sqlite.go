package db

import (
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// sqliteDialector lets GORM use modernc.org/sqlite, a pure-Go driver. It has no migrator: goose migrates.
type sqliteDialector struct{ pool gorm.ConnPool }

var _ gorm.SavePointerDialectorInterface = sqliteDialector{}

func (sqliteDialector) Name() string { return "sqlite" }

func (d sqliteDialector) Initialize(db *gorm.DB) error {
	db.ConnPool = d.pool
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{
		CreateClauses: []string{"INSERT", "VALUES", "ON CONFLICT", "RETURNING"},
		QueryClauses:  []string{"SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT"}, // no FOR UPDATE
		UpdateClauses: []string{"UPDATE", "SET", "FROM", "WHERE", "RETURNING"},
		DeleteClauses: []string{"DELETE", "FROM", "WHERE", "RETURNING"},
	})
	return nil
}

func (sqliteDialector) Migrator(*gorm.DB) gorm.Migrator { return nil }

func (sqliteDialector) DataTypeOf(field *schema.Field) string { return string(field.DataType) }

func (sqliteDialector) DefaultValueOf(*schema.Field) clause.Expression {
	return clause.Expr{SQL: "NULL"}
}

func (sqliteDialector) BindVarTo(writer clause.Writer, _ *gorm.Statement, _ any) {
	_ = writer.WriteByte('?')
}

// QuoteTo quotes the identifiers of our own row types, which contain no quotes.
func (sqliteDialector) QuoteTo(writer clause.Writer, name string) {
	_, _ = writer.WriteString(`"` + strings.ReplaceAll(name, ".", `"."`) + `"`)
}

func (sqliteDialector) Explain(sql string, vars ...any) string {
	return logger.ExplainSQL(sql, nil, `'`, vars...)
}

// SavePoint implements gorm.SavePointerDialectorInterface.
func (sqliteDialector) SavePoint(tx *gorm.DB, name string) error {
	return tx.Exec("SAVEPOINT " + name).Error
}

// RollbackTo implements gorm.SavePointerDialectorInterface.
func (sqliteDialector) RollbackTo(tx *gorm.DB, name string) error {
	return tx.Exec("ROLLBACK TO SAVEPOINT " + name).Error
}
