package connection

import (
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
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

func (s *Store) openPostgres() error {
	cfg, err := postgresConfig(s.cfg)
	if err != nil {
		return fmt.Errorf("read the database URL: %w", err)
	}
	if s.pgx, err = pgxpool.NewWithConfig(context.Background(), cfg); err != nil {
		return err
	}
	s.release = s.pgx.Close
	db := stdlib.OpenDBFromPool(s.pgx)
	s.Dialect, s.pools = postgresDialect, []*sql.DB{db}
	s.reader, err = s.openGORM(postgres.New(postgres.Config{Conn: db})) // pgx keeps statements prepared
	s.writer = s.reader
	return err
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

// Pipeline is a gorm.ConnPool that queues statements for a batch, which PostgreSQL runs as one transaction. Only ExecContext works:
// nothing can be read before the batch is sent.
type Pipeline struct {
	gorm.ConnPool // nil

	Batch pgx.Batch
}

// send runs the queued statements on a connection, in one round trip.
func (p *Pipeline) send(ctx context.Context, conn *sql.Conn, log logger.Interface) error {
	return conn.Raw(func(raw any) error {
		return p.run(ctx, raw.(*stdlib.Conn).Conn(), log) //nolint:forcetypeassert // openPostgres makes no other
	})
}

// run runs the queued statements. The log sees them as one.
func (p *Pipeline) run(ctx context.Context, on interface {
	SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
}, log logger.Interface,
) error {
	began := time.Now()
	err := on.SendBatch(ctx, &p.Batch).Close()
	log.Trace(ctx, began, func() (string, int64) {
		var all []string
		for _, queued := range p.Batch.QueuedQueries {
			all = append(all, queued.SQL)
		}
		return strings.Join(all, "; "), -1
	}, err)
	return err
}

// ExecContext implements gorm.ConnPool.
func (p *Pipeline) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	p.Batch.Queue(query, args...)
	return driver.RowsAffected(0), nil
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
