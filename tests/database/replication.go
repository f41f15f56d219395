package database

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
)

// Replication is a primary and streaming replicas of it.
type Replication struct {
	Primary  gormstore.Config // a migrated, empty database
	Replicas []*Replica
}

// Replica is a streaming replica.
type Replica struct {
	URL  gormstore.URL
	Kill func() // ends the server at once, as a crash would
	db   *sql.DB
}

// Replicate starts a primary with that many replicas. It needs PostgreSQL's binaries on the machine,
// whichever way the other tests get their server, and skips the test, saying so, where there are none.
func Replicate(t *testing.T, count int) *Replication {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	options := append([]string{"-c", "wal_level=replica", "-c", "max_wal_senders=10", "-c", "hot_standby=on"}, unsafeOptions...)
	server, stop, err := startLocal(t.Context(), options)
	if errors.Is(err, errNotHere) {
		t.Skip("streaming replicas need PostgreSQL's server binaries on this machine (Debian: apt-get install postgresql)")
	}
	fail(err)
	t.Cleanup(stop)
	r := &Replication{Primary: gormstore.DefaultConfig()}
	r.Primary.URL = gormstore.URL(server.String())
	fail(migrate(r.Primary))
	for range count {
		replica, stop, err := startReplica(t.Context(), server, options)
		fail(err)
		t.Cleanup(stop)
		db, err := sql.Open("pgx", replica.String())
		fail(err)
		t.Cleanup(func() { _ = db.Close() })
		r.Replicas = append(r.Replicas, &Replica{URL: gormstore.URL(replica.String()), Kill: stop, db: db})
	}
	return r
}

// Pause stops the replica from taking over what the primary writes, until Resume.
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

func startReplica(ctx context.Context, primary *url.URL, options []string) (*url.URL, func(), error) {
	l, err := newLocal(scratch(options))
	if err != nil {
		return nil, nil, err
	}
	backup := l.command(ctx, "pg_basebackup", "-h", primary.Hostname(), "-p", primary.Port(), "-U", "gluepot", "-D", l.data(), "-R", "-X",
		"stream", "-c", "fast", "--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		return nil, nil, errors.New("pg_basebackup: " + string(out))
	}
	return l.start(ctx, options)
}
