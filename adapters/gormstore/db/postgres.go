package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"gorm.io/driver/postgres"
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
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationLockID),
		lock.WithLockTimeout(1, migrationLockWait))
	if err != nil {
		return err
	}
	s.lockOptions = []goose.ProviderOption{goose.WithSessionLocker(locker)}
	db := stdlib.OpenDBFromPool(s.pgx)
	s.dialect, s.pools = postgresDialect, []*sql.DB{db}
	s.reader, err = s.openGORM(postgres.New(postgres.Config{Conn: db})) // pgx keeps statements prepared
	s.writer, s.together = s.reader, s.pipelined
	return err
}

// postgresConfig reads a postgres:// URL. The URL's connect_timeout and target_session_attrs win over cfg.
func postgresConfig(cfg Config) (*pgxpool.Config, error) {
	config, err := URL(cfg.URL).parsePostgres()
	if err != nil {
		return nil, err
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = cfg.ConnectTimeout
	}
	if _, ok := config.ConnConfig.RuntimeParams["application_name"]; !ok {
		config.ConnConfig.RuntimeParams["application_name"] = "gluepot"
	}
	config.ConnConfig.Tracer = cfg.Tracer
	if !cfg.Standby {
		config.ConnConfig.ValidateConnect = requirePrimary(config.ConnConfig.ValidateConnect)
	}
	config.ConnConfig.ValidateConnect = readCommitted(config.ConnConfig.ValidateConnect)
	config.MaxConns, config.MinConns = int32(cfg.MaxConnections), 0
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = cfg.ConnectionMaxLifetime, cfg.ConnectionMaxLifetime/5
	if cfg.ConnectionMaxLifetime == 0 {
		config.MaxConnLifetime = 1 << 62
	}
	if cfg.Reread != nil {
		config.BeforeConnect = func(_ context.Context, conn *pgx.ConnConfig) error {
			if url, err := cfg.Reread(); err == nil {
				if now, err := url.parsePostgres(); err == nil {
					conn.Password = now.ConnConfig.Password
				}
			}
			return nil
		}
	}
	return config, nil
}

// readCommitted sets the isolation level of statements outside transactions: a standby refuses them if the server's
// default is SERIALIZABLE. Behind a proxy in transaction mode a statement may run in another session, with the default
// level. That does no harm, because one statement sees one instant at every level. Transactions set their own level.
// next is the next check, or nil.
func readCommitted(next pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		_, err := conn.Exec(ctx, "SET default_transaction_isolation = 'read committed'").ReadAll()
		if err != nil || next == nil {
			return err
		}
		return next(ctx, conn)
	}
}

var errNoPrimary = errors.New("the server is a standby")

// requirePrimary refuses connections to a standby, which may be stale and accept revoked tokens. next is the next
// check, or nil.
func requirePrimary(next pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		result := conn.ExecParams(ctx, postgresDialect.standby, nil, nil, nil, nil).Read()
		switch {
		case result.Err != nil:
			return result.Err
		case string(result.Rows[0][0]) != "f":
			return errNoPrimary
		case next != nil:
			return next(ctx, conn)
		}
		return nil
	}
}
