package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"
)

// countingConnector opens connections that count the statements they prepare, and those that are open.
type countingConnector struct {
	driver.Connector

	prepared, open *atomic.Int64
}

func (c countingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countingConn{conn.(sqliteConn), c}, nil //nolint:forcetypeassert // a panic fails the test
}

type countingConn struct {
	sqliteConn

	counts countingConnector
}

func (c countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	statement, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.counts.prepared.Add(1)
	c.counts.open.Add(1)
	return countingStatement{statement.(sqliteStatement), c.counts}, nil //nolint:forcetypeassert // as above
}

type countingStatement struct {
	sqliteStatement

	counts countingConnector
}

func (s countingStatement) Close() error {
	s.counts.open.Add(-1)
	return s.sqliteStatement.Close()
}

// newPreparingPool returns a database of one connection that keeps its statements, with a table t of one column n and
// the row 7.
func newPreparingPool(t *testing.T) (pool *sql.DB, prepared, open *atomic.Int64, dsn string) {
	t.Helper()
	dsn = "file:" + filepath.Join(t.TempDir(), "gluepot.db")
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	prepared, open = new(atomic.Int64), new(atomic.Int64)
	pool = sql.OpenDB(preparingConnector{countingConnector{connector, prepared, open}})
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	if _, err := pool.ExecContext(t.Context(), "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	return pool, prepared, open, dsn
}

// within runs do in a transaction.
func within(t *testing.T, pool *sql.DB, do func(tx *sql.Tx)) {
	t.Helper()
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	do(tx)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// wantRow runs a query for one number.
func wantRow(t *testing.T, from querier, want int, query string, args ...any) {
	t.Helper()
	var got int
	if err := from.QueryRowContext(t.Context(), query, args...).Scan(&got); err != nil || got != want {
		t.Fatalf("%.80s: got %d, error %v, want %d", query, got, err, want)
	}
}

// TestStatementsStayPrepared checks that statements that run in and outside transactions are prepared once each.
func TestStatementsStayPrepared(t *testing.T) {
	t.Parallel()
	pool, prepared, _, _ := newPreparingPool(t)
	before := prepared.Load()
	for i := range 10 {
		within(t, pool, func(tx *sql.Tx) {
			wantRow(t, tx, 7+i, "SELECT n + ? FROM t", i)
			if _, err := tx.ExecContext(t.Context(), "UPDATE t SET n = ?", 7); err != nil {
				t.Fatal(err)
			}
		})
		wantRow(t, pool, 7, "SELECT n + ? FROM t", 0)
	}
	if got := prepared.Load() - before; got != 2 {
		t.Errorf("got %d statements prepared, want 2", got)
	}
}

// TestOpenStatementsAreBounded checks that of many statements a bounded number stays open, with the one that is used
// most, and none after their connection is closed.
func TestOpenStatementsAreBounded(t *testing.T) {
	t.Parallel()
	pool, prepared, open, _ := newPreparingPool(t)
	const often = "SELECT n FROM t"
	wantRow(t, pool, 7, often)
	before, others := prepared.Load(), 3*maxPrepared
	within(t, pool, func(tx *sql.Tx) {
		for i := range others {
			wantRow(t, tx, 7+i, fmt.Sprintf("SELECT n + %d FROM t", i))
			wantRow(t, tx, 7, often)
		}
	})
	if got := prepared.Load() - before; got != int64(others) {
		t.Errorf("got %d statements prepared, want %d: all but the one that was used most", got, others)
	}
	if got := open.Load(); got != maxPrepared {
		t.Errorf("got %d statements open, want %d", got, maxPrepared)
	}
	long := "SELECT n FROM t /*" + strings.Repeat(" ", maxPreparedLength) + "*/"
	before = prepared.Load()
	for range 2 {
		wantRow(t, pool, 7, long)
	}
	if got := prepared.Load() - before; got != 2 {
		t.Errorf("got a long statement prepared %d times, want 2: it is not kept", got)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	if got := open.Load(); got != 0 {
		t.Errorf("got %d statements open after closing, want none", got)
	}
}

// TestStatementInUse runs a statement again while its rows are read.
func TestStatementInUse(t *testing.T) {
	t.Parallel()
	pool, _, open, _ := newPreparingPool(t)
	if _, err := pool.ExecContext(t.Context(), "INSERT INTO t VALUES (8)"); err != nil {
		t.Fatal(err)
	}
	const all = "SELECT n FROM t ORDER BY n"
	within(t, pool, func(tx *sql.Tx) {
		for range 2 { // the second time it is already prepared
			rows, err := tx.QueryContext(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for rows.Next() {
				var n int
				if err := rows.Scan(&n); err != nil {
					t.Fatal(err)
				}
				got = append(got, n)
				wantRow(t, tx, 7, all)
			}
			if err := rows.Err(); err != nil || fmt.Sprint(got) != "[7 8]" {
				t.Fatalf("got %v, error %v, want [7 8]", got, err)
			}
			_ = rows.Close() //nolint:sqlclosecheck // the loop goes on in the transaction
		}
	})
	if got := open.Load(); got != 3 { // CREATE and INSERT, INSERT, SELECT
		t.Errorf("got %d statements open, want 3", got)
	}
}

// TestPreparedStatementAfterMigration checks that a prepared statement sees a table that another connection changed.
// Statements that failed, or whose caller left, must work the next time.
func TestPreparedStatementAfterMigration(t *testing.T) {
	t.Parallel()
	pool, prepared, _, dsn := newPreparingPool(t)
	other, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // it is a file of this test
	const all = "SELECT * FROM t"
	columns := func() (names []string) {
		within(t, pool, func(tx *sql.Tx) {
			rows, err := tx.QueryContext(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close() //nolint:errcheck // rows.Err reports it
			if names, err = rows.Columns(); err != nil || !rows.Next() || rows.Err() != nil {
				t.Fatal(err, rows.Err())
			}
		})
		return names
	}
	change := func(statement string) {
		t.Helper()
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	columns()
	before := prepared.Load()
	change("ALTER TABLE t ADD COLUMN m INTEGER")
	if got := fmt.Sprint(columns()); got != "[n m]" {
		t.Errorf("got columns %s after one was added, want [n m]", got)
	}
	change("ALTER TABLE t RENAME TO u")
	if err := pool.QueryRowContext(t.Context(), all).Scan(new(int)); err == nil {
		t.Error("got a row of a table that was renamed, want an error")
	}
	change("ALTER TABLE u RENAME TO t")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := pool.QueryRowContext(ctx, all).Scan(new(int)); err == nil {
		t.Error("a caller who left: got no error, want one")
	}
	if got := fmt.Sprint(columns()); got != "[n m]" {
		t.Errorf("got columns %s, want [n m]", got)
	}
	if got := prepared.Load() - before; got != 0 {
		t.Errorf("got %d statements prepared, want none", got)
	}
}
