package gormstore

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"math/rand/v2"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// When a connection to PostgreSQL that was not in use is looked at before it is used again. One that has only just been given
// back is not: under load that would be every time.
const (
	// pingAfter is when the server is asked, at the cost of a round trip: it may have gone without a word.
	pingAfter = time.Second
	// peekAfter is when the operating system is asked whether the server has closed it. That takes about a microsecond.
	peekAfter = time.Millisecond
)

// jitter is the share of their greatest age by which connections may differ in it, so that those that were opened together do
// not all end together.
const jitter = 0.2

// readOnlyTransaction is the SQLSTATE of a write that a server refuses because it is no primary any more.
const readOnlyTransaction = "25006"

// target is what a URL of PostgreSQL leads to.
type target struct {
	config  *pgx.ConnConfig
	reread  func() (URL, error) // the URL as it is now, whose password is taken for new connections; nil: it stays
	lineage *lineage            // which of its servers may be connected to; nil: any
	age     aging
	welcome func(context.Context, *pgx.Conn) error // is called with each new connection; nil: nobody is
}

// newTarget returns that of the URL of cfg. A connection to it ends when it is told that its server is no primary any more.
func newTarget(cfg Config, reread func() (URL, error), known *lineage) (*target, error) {
	parsed, err := postgresConfig(cfg)
	if err != nil {
		return nil, err
	}
	inherited := parsed.OnPgError
	parsed.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) (keep bool) {
		return err.Code != readOnlyTransaction && inherited(conn, err)
	}
	if known != nil {
		known.guard(&parsed.Config)
	}
	return &target{config: parsed, reread: reread, lineage: known, age: aging{cfg.ConnectionMaxLifetime}}, nil
}

// open returns a pool, whose connections are looked at after they have idled, and have an age.
func (t *target) open() *sql.DB {
	db := stdlib.OpenDB(*t.config, stdlib.OptionBeforeConnect(func(_ context.Context, next *pgx.ConnConfig) error {
		t.prepare(next)
		return nil
	}), stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		if t.welcome != nil {
			if err := t.welcome(ctx, conn); err != nil {
				return err
			}
		}
		return t.age.born(ctx, conn)
	}), stdlib.OptionShouldPing(isDoubtful), stdlib.OptionResetSession(t.age.check))
	db.SetConnMaxLifetime(t.age.most) // closes what is too old and not asked for
	return db
}

// prepare brings up to date what the next connection is opened with.
func (t *target) prepare(next *pgx.ConnConfig) {
	if t.reread != nil {
		if url, err := t.reread(); err == nil { // else the server says whether the old one will do
			if now, err := url.parsePostgres(); err == nil {
				next.Password = now.Password
			}
		}
	}
	if t.lineage != nil {
		t.lineage.leadFirst(&next.Config)
	}
}

// isDoubtful reports whether a connection that was not in use needs a round trip to show that it is alive.
func isDoubtful(_ context.Context, idle stdlib.ShouldPingParams) bool {
	return idle.IdleDuration > pingAfter || idle.IdleDuration > peekAfter && isReadable(idle.Conn.PgConn().Conn())
}

// socketOf returns what a connection sends over, below TLS.
func socketOf(conn net.Conn) net.Conn {
	if secured, ok := conn.(*tls.Conn); ok {
		return secured.NetConn()
	}
	return conn
}

// aging ends connections at an age that differs between them. The zero value ends none.
type aging struct{ most time.Duration }

const endOfLifeKey = "gluepot.end"

func (a aging) born(_ context.Context, conn *pgx.Conn) error {
	if a.most > 0 {
		conn.PgConn().CustomData()[endOfLifeKey] = a.end(time.Now())
	}
	return nil
}

// end returns when a connection that was opened at that time is too old.
func (a aging) end(opened time.Time) time.Time {
	return opened.Add(time.Duration(float64(a.most) * (1 - jitter*rand.Float64()))) //nolint:gosec // nothing secret
}

// check refuses a connection that is too old, for which database/sql then opens another.
func (a aging) check(_ context.Context, conn *pgx.Conn) error {
	if end, ok := conn.PgConn().CustomData()[endOfLifeKey].(time.Time); ok && time.Now().After(end) {
		return driver.ErrBadConn
	}
	return nil
}
