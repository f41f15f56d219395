package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	tcpostgres "github.com/testcontainers/testcontainers-go/modules/postgres"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/gluepot/gluepot/adapters/gormstore"
)

// Replication is a primary and streaming replicas of it.
type Replication struct {
	Primary  gormstore.Config // a migrated, empty database
	Replicas []*Replica
}

// Replica is a streaming replica.
type Replica struct {
	URL  string
	Kill func() // ends the server at once, as a crash would
	db   *sql.DB
}

// Replicate starts a primary with this many replicas: with PostgreSQL's binaries on the machine, or else in containers,
// or with binaries that it installs. GLUEPOT_TEST_POSTGRES can demand one of these ways.
func Replicate(t *testing.T, count int) *Replication {
	t.Helper()
	options := append([]string{"-c", "wal_level=replica", "-c", "max_wal_senders=10", "-c", "hot_standby=on"},
		unsafeOptions...)
	c, err := startCluster(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	r := &Replication{Primary: gormstore.DefaultConfig()}
	r.Primary.URL = c.primary.String()
	if err := migrate(r.Primary); err != nil {
		t.Fatal(err)
	}
	for range count {
		replica, stop, err := c.replicate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		db, err := sql.Open("pgx", replica.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		r.Replicas = append(r.Replicas, &Replica{URL: replica.String(), Kill: stop, db: db})
	}
	return r
}

// cluster is a primary that can get replicas.
type cluster struct {
	primary   *url.URL
	stop      func()
	replicate func(ctx context.Context) (replica *url.URL, stop func(), err error)
}

// startCluster takes the first way that works. It ignores the demand for the way url, which has no replicas.
func startCluster(ctx context.Context, options []string) (*cluster, error) {
	demand := os.Getenv(envWay)
	var failures []error
	for _, way := range []struct {
		name  string
		start func(context.Context, []string) (*cluster, error)
	}{{"local", localCluster}, {"container", containerCluster}, {"install", installedCluster}} {
		if demand != "" && demand != "url" && demand != way.name {
			continue
		}
		c, err := way.start(ctx, options)
		if err == nil {
			return c, nil
		}
		failures = append(failures, err)
	}
	return nil, fmt.Errorf("streaming replicas need PostgreSQL's server binaries (Debian: apt-get install "+
		"postgresql) or a Docker engine: %w",
		errors.Join(failures...))
}

func localCluster(ctx context.Context, options []string) (*cluster, error) {
	primary, stop, err := startLocal(ctx, options)
	return &cluster{primary: primary, stop: stop, replicate: func(ctx context.Context) (*url.URL, func(), error) {
		return startReplica(ctx, primary, options)
	}}, err
}

func installedCluster(ctx context.Context, options []string) (*cluster, error) {
	if err := install(ctx); err != nil {
		return nil, err
	}
	return localCluster(ctx, options)
}

func containerCluster(ctx context.Context, options []string) (*cluster, error) {
	container, stop, err := runContainer(ctx, options)
	if err != nil {
		return nil, err
	}
	primary, err := urlOf(ctx, container)
	if err == nil {
		err = letReplicate(ctx, container, primary)
	}
	address := ""
	if err == nil {
		address, err = container.ContainerIP(ctx)
	}
	if err != nil {
		stop()
		return nil, err
	}
	return &cluster{primary: primary, stop: stop, replicate: func(ctx context.Context) (*url.URL, func(), error) {
		return startReplicaContainer(ctx, address, options)
	}}, nil
}

// letReplicate lets replicas connect, which the image does not allow by default.
func letReplicate(ctx context.Context, container *tcpostgres.PostgresContainer, primary *url.URL) error {
	db, err := sql.Open("pgx", primary.String())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it was only read from
	var hba string
	if err := db.QueryRowContext(ctx, "SHOW hba_file").Scan(&hba); err != nil {
		return err
	}
	code, out, err := container.Exec(ctx, []string{"sh", "-c",
		`echo "host replication all all scram-sha-256" >>"$0"`, hba})
	if err != nil {
		return err
	}
	if code != 0 {
		text, _ := io.ReadAll(out)
		return fmt.Errorf("%s: exit code %d: %s", hba, code, text)
	}
	_, err = db.ExecContext(ctx, "SELECT pg_reload_conf()")
	return err
}

// replicaScript copies the primary at $1 and follows it; the rest are the server's options.
const replicaScript = `set -e; for bin in /usr/lib/postgresql/*/bin; do PATH=$bin:$PATH; done
mkdir -m 700 "$PGDATA"; primary=$1; shift
PGPASSWORD=gluepot pg_basebackup -h "$primary" -U gluepot -D "$PGDATA" -R -X stream -c fast --no-sync
exec postgres "$@" -c listen_addresses='*' -c unix_socket_directories=/tmp`

func startReplicaContainer(ctx context.Context, primary string, options []string) (*url.URL, func(), error) {
	container, err := testcontainers.Run(ctx, containerImage(),
		testcontainers.WithEntrypoint("su", "-s", "/bin/sh", "-c", replicaScript, "--", "postgres", "sh", primary),
		testcontainers.WithCmd(options...),
		testcontainers.WithTmpfs(map[string]string{containerFolder: "rw,mode=1777"}),
		testcontainers.WithEnv(map[string]string{"PGDATA": containerData}),
		testcontainers.WithExposedPorts("5432/tcp"),
		testcontainers.WithWaitStrategy(
			wait.ForLog("database system is ready to accept read-only connections"), wait.ForListeningPort("5432/tcp")),
	)
	stop := func() { _ = testcontainers.TerminateContainer(container, testcontainers.StopTimeout(0)) }
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("start a replica's container: %w", err)
	}
	endpoint, err := container.PortEndpoint(ctx, "5432/tcp", "")
	if err != nil {
		stop()
		return nil, nil, err
	}
	return &url.URL{
		Scheme: "postgres", User: url.UserPassword("gluepot", "gluepot"), Host: endpoint, Path: "/postgres",
		RawQuery: "sslmode=disable",
	}, stop, nil
}

// Pause stops the replica from applying what the primary writes, until Resume.
func (r *Replica) Pause(t *testing.T) {
	t.Helper()
	if _, err := r.db.ExecContext(t.Context(), "SELECT pg_wal_replay_pause()"); err != nil {
		t.Fatal(err)
	}
}

// Resume ends Pause.
func (r *Replica) Resume(t *testing.T) {
	t.Helper()
	if _, err := r.db.ExecContext(t.Context(), "SELECT pg_wal_replay_resume()"); err != nil {
		t.Fatal(err)
	}
}

// Promote makes the replica a primary.
func (r *Replica) Promote(t *testing.T) {
	t.Helper()
	if _, err := r.db.ExecContext(t.Context(), "SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}
}

// WaitForQuestion waits until another client has begun and finished a statement with this text on the replica.
func (r *Replica) WaitForQuestion(t *testing.T, text string) {
	t.Helper()
	var start time.Time
	if err := r.db.QueryRowContext(t.Context(), "SELECT clock_timestamp()").Scan(&start); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var seen bool
		if err := r.db.QueryRowContext(t.Context(), `SELECT exists(SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid()
			AND state = 'idle' AND query_start > $1 AND query LIKE '%' || $2 || '%')`, start, text).Scan(&seen); err != nil {
			t.Fatal(err)
		}
		if seen {
			return
		}
	}
	t.Fatalf("got no statement with %s on the replica within a minute, want one", text)
}

func startReplica(ctx context.Context, primary *url.URL, options []string) (*url.URL, func(), error) {
	l, err := newLocal(scratch(options))
	if err != nil {
		return nil, nil, err
	}
	backup := l.command(ctx, "pg_basebackup", "-h", primary.Hostname(), "-p", primary.Port(), "-U", "gluepot", "-D",
		l.data(), "-R", "-X",
		"stream", "-c", "fast", "--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		return nil, nil, errors.New("pg_basebackup: " + string(out))
	}
	return l.start(ctx, options)
}
