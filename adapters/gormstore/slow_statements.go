package gormstore

import (
	"context"
	"database/sql/driver"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Statement is one that the database was asked to run, by GORM, by fixed SQL or by a migration.
type Statement struct {
	// SQL is its text on one line, with placeholders and without their values; a long one is cut.
	SQL string
	// Duration is from when it had a connection until its last row was read on PostgreSQL, and its first on SQLite, where
	// the others are computed as the reader asks for them. Waiting for somebody else's lock counts.
	Duration time.Duration
	// Rows is how many it read or changed, or -1 when that is not known: it failed, or was a query on SQLite.
	Rows int64
}

// slowStatements tells of statements that take long. They are timed where the drivers run them, because whatever asks
// comes by there: pgx's tracer, and the connections of sqlite_wait.go. A nil *slowStatements times nothing.
type slowStatements struct {
	threshold time.Duration
	tell      func(Statement)
}

// newSlowStatements returns nil when nobody wants to know.
func newSlowStatements(cfg Config) *slowStatements {
	if cfg.SlowStatement == 0 || cfg.OnSlowStatement == nil {
		return nil
	}
	return &slowStatements{cfg.SlowStatement, cfg.OnSlowStatement}
}

func (s *slowStatements) begin() (began time.Time) {
	if s != nil {
		began = time.Now()
	}
	return began
}

// end tells of a statement on SQLite that began at that time, if it was slow. The result may be nil.
func (s *slowStatements) end(began time.Time, query string, result driver.Result) {
	if s == nil {
		return
	}
	duration := time.Since(began)
	if duration < s.threshold {
		return
	}
	rows := int64(-1)
	if result != nil {
		if changed, err := result.RowsAffected(); err == nil {
			rows = changed
		}
	}
	s.tell(Statement{oneLine(query), duration, rows})
}

var (
	_ pgx.QueryTracer    = (*slowStatements)(nil)
	_ pgx.BatchTracer    = (*slowStatements)(nil)
	_ pgx.CopyFromTracer = (*slowStatements)(nil)
)

// tracedStatement is the one that is under way on a connection. It belongs to the connection, so that none is
// allocated for a statement.
type tracedStatement struct {
	sql   string
	began time.Time
}

const tracedStatementKey = "gluepot.statement"

// TraceQueryStart implements pgx.QueryTracer.
func (s *slowStatements) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	own := conn.PgConn().CustomData()
	traced, ok := own[tracedStatementKey].(*tracedStatement)
	if !ok {
		traced = new(tracedStatement)
		own[tracedStatementKey] = traced
	}
	traced.sql, traced.began = data.SQL, time.Now()
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (s *slowStatements) TraceQueryEnd(_ context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	if traced, ok := conn.PgConn().CustomData()[tracedStatementKey].(*tracedStatement); ok {
		s.ended(traced, data.CommandTag, data.Err)
	}
}

// TraceBatchStart implements pgx.BatchTracer. The statements of a batch are under way one after the other.
func (s *slowStatements) TraceBatchStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return s.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{})
}

// TraceBatchQuery implements pgx.BatchTracer.
func (s *slowStatements) TraceBatchQuery(_ context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	if traced, ok := conn.PgConn().CustomData()[tracedStatementKey].(*tracedStatement); ok {
		traced.sql = data.SQL
		s.ended(traced, data.CommandTag, data.Err)
		traced.began = time.Now()
	}
}

// TraceBatchEnd implements pgx.BatchTracer.
func (*slowStatements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceCopyFromStart implements pgx.CopyFromTracer. What the rows take to be made counts: they are made as they are sent.
func (s *slowStatements) TraceCopyFromStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceCopyFromStartData) context.Context {
	return s.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: "COPY " + data.TableName.Sanitize()})
}

// TraceCopyFromEnd implements pgx.CopyFromTracer.
func (s *slowStatements) TraceCopyFromEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceCopyFromEndData) {
	s.TraceQueryEnd(ctx, conn, pgx.TraceQueryEndData(data))
}

func (s *slowStatements) ended(traced *tracedStatement, tag pgconn.CommandTag, err error) {
	duration := time.Since(traced.began)
	if duration < s.threshold {
		return
	}
	rows := int64(-1)
	if err == nil && (tag.Select() || tag.Insert() || tag.Update() || tag.Delete() || strings.HasPrefix(tag.String(), "COPY")) {
		rows = tag.RowsAffected()
	}
	s.tell(Statement{oneLine(traced.sql), duration, rows})
}

// maxStatementText is how many bytes of a statement are told: an import's has a placeholder for each value.
const maxStatementText = 1000

func oneLine(query string) string {
	cut := query[:min(len(query), maxStatementText)]
	text := strings.Join(strings.Fields(strings.ToValidUTF8(cut, "")), " ")
	if len(cut) < len(query) {
		text += " …"
	}
	return text
}
