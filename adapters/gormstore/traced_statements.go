package gormstore

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// StatementTracer follows statements where the drivers run them, those of GORM and of migrations included. It is called by all
// that run at once, and must be quick and not panic.
type StatementTracer interface {
	// StatementBegan says that a system, SystemPostgres or SystemSQLite, is about to run a statement for ctx. The summary is
	// its operations and the tables that they name, such as "SELECT users"; several that go together are a "BATCH". It returns
	// the context that StatementEnded gets.
	StatementBegan(ctx context.Context, system, summary string) context.Context
	// StatementEnded says that it is over. The failure is the code that the database gives it, "timeout", "canceled" or
	// "other"; empty: it succeeded.
	StatementEnded(ctx context.Context, failure string)
	// Merged returns what ctx becomes for a statement that is run for all who wait with the others.
	Merged(ctx context.Context, served []context.Context) context.Context
}

// The systems of databases, as OpenTelemetry names them.
const (
	SystemPostgres = "postgresql"
	SystemSQLite   = "sqlite"
)

// postgresTracer returns who is told of the statements on PostgreSQL, or nil.
func postgresTracer(cfg Config) pgx.QueryTracer {
	slow := newSlowStatements(cfg)
	switch {
	case cfg.Tracer != nil && slow != nil:
		return multitracer.New(slow, &tracedPostgres{to: cfg.Tracer})
	case cfg.Tracer != nil:
		return &tracedPostgres{to: cfg.Tracer}
	case slow != nil:
		return slow
	}
	return nil
}

// tracedPostgres tells a StatementTracer what pgx runs.
type tracedPostgres struct {
	to        StatementTracer
	summaries summaries
}

var (
	_ pgx.QueryTracer    = (*tracedPostgres)(nil)
	_ pgx.BatchTracer    = (*tracedPostgres)(nil)
	_ pgx.CopyFromTracer = (*tracedPostgres)(nil)
)

// TraceQueryStart implements pgx.QueryTracer.
func (t *tracedPostgres) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return t.to.StatementBegan(ctx, SystemPostgres, t.summaries.of(data.SQL))
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t *tracedPostgres) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	t.to.StatementEnded(ctx, failureOf(data.Err))
}

// TraceBatchStart implements pgx.BatchTracer.
func (t *tracedPostgres) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return t.to.StatementBegan(ctx, SystemPostgres, "BATCH")
}

// TraceBatchQuery implements pgx.BatchTracer.
func (*tracedPostgres) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (t *tracedPostgres) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	t.to.StatementEnded(ctx, failureOf(data.Err))
}

// TraceCopyFromStart implements pgx.CopyFromTracer.
func (t *tracedPostgres) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromStartData) context.Context {
	return t.to.StatementBegan(ctx, SystemPostgres, "COPY "+strings.Join(data.TableName, "."))
}

// TraceCopyFromEnd implements pgx.CopyFromTracer.
func (t *tracedPostgres) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromEndData) {
	t.to.StatementEnded(ctx, failureOf(data.Err))
}

// tracedSQLite tells a StatementTracer what runs on SQLite. A nil *tracedSQLite tells nobody.
type tracedSQLite struct {
	to        StatementTracer
	summaries summaries
}

func newTracedSQLite(cfg Config) *tracedSQLite {
	if cfg.Tracer == nil {
		return nil
	}
	return &tracedSQLite{to: cfg.Tracer}
}

func (t *tracedSQLite) begin(ctx context.Context, query string) context.Context {
	if t == nil {
		return ctx
	}
	return t.to.StatementBegan(ctx, SystemSQLite, t.summaries.of(query))
}

// end is called with what begin returned.
func (t *tracedSQLite) end(ctx context.Context, err error) {
	if t != nil {
		t.to.StatementEnded(ctx, failureOf(err))
	}
}

// merged returns what ctx becomes for a statement that is run for a batch, if anybody is to be told.
func merged[K, V any](ctx context.Context, to StatementTracer, batch []*waiter[K, V]) context.Context {
	if to == nil {
		return ctx
	}
	served := make([]context.Context, len(batch))
	for i, w := range batch {
		served[i] = w.ctx
	}
	return to.Merged(ctx, served)
}

// failureOf names a failure without its message, which may have values in it.
func failureOf(err error) string {
	if err == nil {
		return ""
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	if refused, ok := errors.AsType[*sqlite.Error](err); ok {
		return strconv.Itoa(refused.Code())
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "other"
}

// summaries makes the summaries of statements, and keeps those of the first: the texts of GORM are without number, and some without end.
type summaries struct {
	kept   sync.Map // text -> string
	number atomic.Int32
}

const maxSummaries = 500

func (s *summaries) of(query string) string {
	if known, ok := s.kept.Load(query); ok {
		return known.(string) //nolint:forcetypeassert // the map holds nothing else
	}
	made := summarize(query)
	if s.number.Load() < maxSummaries && len(query) <= summaryLength {
		if _, known := s.kept.LoadOrStore(query, made); !known {
			s.number.Add(1)
		}
	}
	return made
}

// Most processes trace nothing, and need none of these.
var (
	// tablePattern matches a table where a statement names it, with the word that says what for; an open bracket behind it
	// makes it a function.
	tablePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(INSERT INTO|DELETE FROM|UPDATE|FROM|JOIN)\s+"?([a-z_][a-z0-9_]*)"?(\()?`)
	})
	// namedPattern matches the queries of WITH.
	namedPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b([a-z_]+) AS (?:MATERIALIZED )?\(`)
	})
	wordPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*[A-Za-z]+`)
	})
)

// summaryLength is how many bytes of a statement are read for its summary: beyond them are values' placeholders.
const summaryLength = 4096

// summarize says what a statement does in its operations and the tables that each names, without columns, conditions or
// values, as OpenTelemetry has it for db.query.summary.
func summarize(query string) string {
	query = query[:min(len(query), summaryLength)]
	passed := []string{"lateral", "of", "set", "skip"} // of FOR UPDATE and DO UPDATE; and queries of WITH
	for _, match := range namedPattern().FindAllStringSubmatch(query, -1) {
		passed = append(passed, match[1])
	}
	var (
		text string
		last string
		seen = make(map[[2]string]bool)
	)
	for _, match := range tablePattern().FindAllStringSubmatch(query, -1) {
		operation, _, _ := strings.Cut(strings.ToUpper(match[1]), " ")
		table := match[2]
		if operation == "FROM" || operation == "JOIN" {
			operation = "SELECT"
		}
		pair := [2]string{operation, table}
		if seen[pair] || match[3] != "" || slices.Contains(passed, strings.ToLower(table)) {
			continue
		}
		seen[pair] = true
		if operation != last {
			text += " " + operation
		}
		text, last = text+" "+table, operation
	}
	if text == "" {
		text = strings.ToUpper(wordPattern().FindString(query))
	}
	if text = strings.TrimSpace(text); text == "" {
		return "other"
	}
	return text
}
