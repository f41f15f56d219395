package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// maxPrepared is how many statements a connection caches. There is one for each length of a list of ids.
	maxPrepared = 100
	// maxPreparedLength is the length limit of a cached statement, in bytes. Imports have longer ones.
	maxPreparedLength = 8 << 10
)

// preparingConnector opens connections to SQLite that cache prepared statements, also in transactions. The driver would
// parse a statement each time, which takes longer than most statements take to run.
type preparingConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (p preparingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	driverConn, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := driverConn.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks a method of a connection to SQLite", driverConn), driverConn.Close())
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

// preparingConn is a connection with a cache of prepared statements. A statement is either in the cache or in use.
type preparingConn struct {
	sqliteConn

	cache *simplelru.LRU[string, *preparedStatement]
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *preparingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if statement, ok := c.cache.Peek(query); ok {
		c.cache.Remove(query)
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
	for _, statement := range c.cache.Values() {
		errs = append(errs, statement.sqliteStatement.Close())
	}
	c.cache.Purge()
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

// sqliteStatement is what database/sql uses of the driver's statement.
type sqliteStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// preparedStatement is a statement that returns to its connection's cache when it is closed.
type preparedStatement struct {
	sqliteStatement

	conn  *preparingConn
	query string
}

// Close implements driver.Stmt. It closes the statement if the cache has an equal one, and otherwise the oldest
// statement if the cache is full.
func (s *preparedStatement) Close() error {
	if s.conn.cache.Contains(s.query) {
		return s.sqliteStatement.Close()
	}
	var err error
	if s.conn.cache.Len() == maxPrepared {
		_, oldest, _ := s.conn.cache.RemoveOldest()
		err = oldest.sqliteStatement.Close()
	}
	s.conn.cache.Add(s.query, s)
	return err
}
