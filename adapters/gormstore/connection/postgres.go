package connection

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

const (
	// migrationLockID is the advisory lock that makes nodes migrate one at a time.
	migrationLockID = 7163384644223837029
	// migrationLockWait is how long, in seconds, a node waits for another's migrations.
	migrationLockWait = 300
)

func (s *Store) openPostgres() error {
	cfg, err := postgresConfig(s.cfg)
	if err != nil {
		return fmt.Errorf("read the database URL: %w", err)
	}
	if s.pgx, err = pgxpool.NewWithConfig(context.Background(), cfg); err != nil {
		return err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationLockID), lock.WithLockTimeout(1, migrationLockWait))
	if err != nil {
		return err
	}
	s.locking = []goose.ProviderOption{goose.WithSessionLocker(locker)}
	s.release, s.statistics = s.pgx.Close, s.poolStatistics
	db := stdlib.OpenDBFromPool(s.pgx)
	s.Dialect, s.pools = postgresDialect, []*sql.DB{db}
	s.reader, err = s.openGORM(postgres.New(postgres.Config{Conn: db})) // pgx keeps statements prepared
	s.writer, s.together = s.reader, s.pipelined
	return err
}

func (s *Store) poolStatistics() sql.DBStats {
	stat := s.pgx.Stat()
	return sql.DBStats{
		MaxOpenConnections: int(stat.MaxConns()), OpenConnections: int(stat.TotalConns()), InUse: int(stat.AcquiredConns()),
		Idle: int(stat.IdleConns()), WaitCount: stat.EmptyAcquireCount(), WaitDuration: stat.EmptyAcquireWaitTime(),
	}
}

// postgresConfig reads a postgres:// URL. The URL's connect_timeout and target_session_attrs win over cfg.
func postgresConfig(cfg Config) (*pgxpool.Config, error) {
	parsed, err := cfg.URL.parsePostgres()
	if err != nil {
		return nil, err
	}
	if parsed.ConnConfig.ConnectTimeout == 0 {
		parsed.ConnConfig.ConnectTimeout = cfg.ConnectTimeout
	}
	if _, ok := parsed.ConnConfig.RuntimeParams["application_name"]; !ok {
		parsed.ConnConfig.RuntimeParams["application_name"] = "gluepot"
	}
	parsed.ConnConfig.Tracer = cfg.Tracer
	if !cfg.Standby {
		parsed.ConnConfig.ValidateConnect = requirePrimary(parsed.ConnConfig.ValidateConnect)
	}
	parsed.MaxConns, parsed.MinConns = int32(cfg.MaxConnections), 0
	parsed.MaxConnLifetime, parsed.MaxConnLifetimeJitter = cfg.ConnectionMaxLifetime, cfg.ConnectionMaxLifetime/5
	if cfg.ConnectionMaxLifetime == 0 {
		parsed.MaxConnLifetime = 1 << 62
	}
	if cfg.Reread != nil {
		parsed.BeforeConnect = func(_ context.Context, conn *pgx.ConnConfig) error {
			if url, err := cfg.Reread(); err == nil {
				if now, err := url.parsePostgres(); err == nil {
					conn.Password = now.ConnConfig.Password
				}
			}
			return nil
		}
	}
	return parsed, nil
}

// pipelined is a transaction on a pipeline.
func (s *Store) pipelined(ctx context.Context, change func(tx *gorm.DB) error) error {
	conn, err := s.pools[0].Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the transaction has ended
	p := &pipeline{Conn: conn, log: s.writer.Logger}
	p.batch.Queue("BEGIN")
	tx := s.writer.Session(&gorm.Session{NewDB: true, Context: ctx})
	tx.Statement.ConnPool = p
	if err = change(tx); err == nil {
		p.batch.Queue("COMMIT")
		err = p.flush(ctx)
	}
	if err = cmp.Or(p.failed, err); err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // if that also fails, the pool closes the connection
	}
	return err
}

// pipeline is a gorm.ConnPool that sends statements which return no rows with the next one that does, or at the end: then they wait for
// PostgreSQL once.
type pipeline struct {
	*sql.Conn

	log    logger.Interface
	batch  pgx.Batch
	failed error // of the first batch that failed: nothing is sent after it, as it may have left no transaction
}

// ExecContext implements gorm.ConnPool.
func (p *pipeline) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	p.batch.Queue(query, args...)
	return driver.RowsAffected(0), nil
}

// QueryContext implements gorm.ConnPool.
func (p *pipeline) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := p.flush(ctx); err != nil {
		return nil, err
	}
	return p.Conn.QueryContext(ctx, query, args...)
}

// QueryRowContext implements gorm.ConnPool.
func (p *pipeline) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if p.flush(ctx) != nil {
		canceled, cancel := context.WithCancel(ctx)
		cancel() // only database/sql can make a Row with an error
		ctx = canceled
	}
	return p.Conn.QueryRowContext(ctx, query, args...)
}

// flush sends the queued statements. The log sees them as one.
func (p *pipeline) flush(ctx context.Context) error {
	if p.failed != nil || p.batch.Len() == 0 {
		return p.failed
	}
	batch, began := p.batch, time.Now()
	p.batch = pgx.Batch{} // the old one remembers the statements prepared for it
	err := p.Raw(func(conn any) error {
		return conn.(*stdlib.Conn).Conn().SendBatch(ctx, &batch).Close() //nolint:forcetypeassert // openPostgres makes no other
	})
	p.log.Trace(ctx, began, func() (string, int64) {
		var all []string
		for _, queued := range batch.QueuedQueries {
			all = append(all, queued.SQL)
		}
		return strings.Join(all, "; "), -1
	}, err)
	p.failed = err
	return err
}

var errNoPrimary = errors.New("the server is a standby")

// requirePrimary refuses connections to a standby, which may be stale and accept revoked tokens. also is the URL's own check, or nil.
func requirePrimary(also pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		result := conn.ExecParams(ctx, postgresDialect.standby, nil, nil, nil, nil).Read()
		switch {
		case result.Err != nil:
			return result.Err
		case string(result.Rows[0][0]) != "f":
			return errNoPrimary
		case also != nil:
			return also(ctx, conn)
		}
		return nil
	}
}
