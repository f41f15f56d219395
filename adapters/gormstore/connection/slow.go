package connection

import (
	"context"
	"time"

	"gorm.io/gorm/logger"
)

// Statement is a slow statement, without its arguments: they may be secrets.
type Statement struct {
	SQL      string
	Rows     int64 // returned or changed; -1: unknown
	Duration time.Duration
}

// slowLog is GORM's logger. It reports only slow statements: errors are returned, and the caller logs them.
type slowLog struct {
	threshold time.Duration
	report    func(Statement)
}

func (l slowLog) LogMode(logger.LogLevel) logger.Interface { return l }
func (slowLog) Info(context.Context, string, ...any)       {}
func (slowLog) Warn(context.Context, string, ...any)       {}
func (slowLog) Error(context.Context, string, ...any)      {}

// Trace implements logger.Interface.
func (l slowLog) Trace(_ context.Context, begin time.Time, statement func() (string, int64), _ error) {
	if l.report == nil || l.threshold == 0 {
		return
	}
	if took := time.Since(begin); took >= l.threshold {
		sql, rows := statement()
		l.report(Statement{SQL: sql, Rows: rows, Duration: took})
	}
}

// ParamsFilter implements gorm.ParamsFilter: Trace gets no arguments.
func (slowLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) { return sql, nil }
