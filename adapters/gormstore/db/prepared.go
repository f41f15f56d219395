package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// maxPrepared is how many statements a connection keeps. There is one for each length of a list of ids.
	maxPrepared = 100
	// maxPreparedLength is the length of the longest statement that is kept, in bytes. Imports make longer ones.
	maxPreparedLength = 8 << 10
)

// preparing opens connections to SQLite that keep their statements prepared, inside transactions, too. The driver would
// parse a statement each time that it runs, which takes longer than most of them run.
type preparing struct{ driver.Connector }

// Connect implements driver.Connector.
func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks a method of a connection to SQLite", opened), opened.Close())
	}
	statements, err := simplelru.NewLRU[string, *preparedStatement](maxPrepared, nil)
	return &preparingConn{conn, statements}, err
}

// sqliteConn is what database/sql uses of the driver's connection. It leaves out driver.QueryerContext and
// driver.ExecerContext: without them, database/sql prepares each statement, and closes it after its rows.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// preparingConn is a connection that keeps its statements prepared, those that were used last. A statement is either
// kept or in use.
type preparingConn struct {
	sqliteConn

	kept *simplelru.LRU[string, *preparedStatement]
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *preparingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if statement, ok := c.kept.Peek(query); ok {
		c.kept.Remove(query)
		return statement, nil
	}
	prepared, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	statement, ok := prepared.(sqliteStatement)
	if !ok || len(query) > maxPreparedLength {
		return prepared, nil
	}
	return &preparedStatement{statement, c, query}, nil
}

// Close implements driver.Conn.
func (c *preparingConn) Close() error {
	var errs []error
	for _, statement := range c.kept.Values() {
		errs = append(errs, statement.sqliteStatement.Close())
	}
	c.kept.Purge()
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

// sqliteStatement is what database/sql uses of the driver's statement.
type sqliteStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// preparedStatement is a statement that its connection keeps when it is closed.
type preparedStatement struct {
	sqliteStatement

	conn  *preparingConn
	query string
}

// Close implements driver.Stmt. If another use of the same statement was quicker, or too many are kept, one is closed.
func (s *preparedStatement) Close() error {
	if s.conn.kept.Contains(s.query) {
		return s.sqliteStatement.Close()
	}
	var err error
	if s.conn.kept.Len() == maxPrepared {
		_, oldest, _ := s.conn.kept.RemoveOldest()
		err = oldest.sqliteStatement.Close()
	}
	s.conn.kept.Add(s.query, s)
	return err
}
