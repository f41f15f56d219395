package db

import (
	"context"
	"database/sql"
	"sync"
)

// preparedReads keeps the statements of reads prepared: otherwise SQLite's driver parses each one twice. With GORM's PrepareStmt, a
// caller waits while another prepares the same statement, and fails with the other's deadline.
type preparedReads struct {
	*sql.DB

	mu         sync.Mutex
	statements map[string]*sql.Stmt
}

// maxPrepared bounds the number of statements: there is one for each length of a list of ids.
const maxPrepared = 100

func newPreparedReads(db *sql.DB) *preparedReads {
	return &preparedReads{DB: db, statements: make(map[string]*sql.Stmt)}
}

// QueryContext implements gorm.ConnPool.
func (p *preparedReads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if statement := p.prepared(ctx, query); statement != nil { //nolint:sqlclosecheck // it is kept
		return statement.QueryContext(ctx, args...)
	}
	return p.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext implements gorm.ConnPool.
func (p *preparedReads) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if statement := p.prepared(ctx, query); statement != nil { //nolint:sqlclosecheck // it is kept
		return statement.QueryRowContext(ctx, args...)
	}
	return p.DB.QueryRowContext(ctx, query, args...)
}

// prepared returns a statement, or nil. When two callers prepare the same one at once, one of the two statements is closed.
func (p *preparedReads) prepared(ctx context.Context, query string) *sql.Stmt {
	p.mu.Lock()
	statement, full := p.statements[query], len(p.statements) >= maxPrepared
	p.mu.Unlock()
	if statement != nil || full {
		return statement
	}
	made, err := p.PrepareContext(ctx, query)
	if err != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if statement = p.statements[query]; statement != nil {
		_ = made.Close() //nolint:sqlclosecheck // the other is used
		return statement
	}
	p.statements[query] = made
	return made
}
