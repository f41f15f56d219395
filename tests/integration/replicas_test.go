package integration

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
)

// TestOtherReplicaAnswers freezes a primary and the replica that is asked first, both of which are behind a proxy: the other replica
// answers.
func TestOtherReplicaAnswers(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 1)
	primary := replication.Primary
	replica := primary
	replica.URL = replication.Replicas[0].URL
	primaryProxy, cfg := faultproxy.Start(t, primary)
	replicaProxy, throughProxy := faultproxy.Start(t, replica)
	cfg.ReplicaURLs, cfg.ReplicaMaxLag = []gormstore.URL{throughProxy.URL, replica.URL}, time.Hour
	s := openService(t, cfg)
	eventually(t, "two fresh replicas with the user", func() bool {
		_, err := s.users.StaleByName(t.Context(), s.name)
		return err == nil && s.freshReplicas() == 2
	})
	primaryProxy.Stall()
	replicaProxy.Stall()
	for range 4 { // whoever is first in turn
		ctx, cancel := context.WithTimeout(t.Context(), requestTime)
		if _, err := s.users.StaleByName(ctx, s.name); err != nil {
			t.Errorf("got %v, want the other replica's answer", err)
		}
		cancel()
	}
	primaryProxy.Resume()
	replicaProxy.Resume()
}

// TestReplicaAnswersAgain freezes a primary while its replica is away for a moment: who asked meanwhile, and so waits for the primary,
// has an answer as soon as the replica is back.
func TestReplicaAnswersAgain(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 1)
	replica := replication.Primary
	replica.URL = replication.Replicas[0].URL
	primaryProxy, cfg := faultproxy.Start(t, replication.Primary)
	replicaProxy, throughProxy := faultproxy.Start(t, replica)
	cfg.ReplicaURLs, cfg.ReplicaMaxLag = []gormstore.URL{throughProxy.URL}, time.Hour
	s := openService(t, cfg)
	eventually(t, "a fresh replica with the user", func() bool {
		_, err := s.users.StaleByName(t.Context(), s.name)
		return err == nil && s.freshReplicas() == 1
	})
	primaryProxy.Stall()
	replicaProxy.Refuse()
	eventually(t, "no fresh replica", func() bool { return s.freshReplicas() == 0 })
	const asking = 64 // more than there are statements at once
	answers := make(chan error, asking)
	for range asking {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), requestTime)
			defer cancel()
			_, err := s.users.StaleByName(ctx, s.name)
			answers <- err
		}()
	}
	eventually(t, "statements that wait for the primary", func() bool { return s.store.Statistics().Pool.InUse > 0 })
	replicaProxy.Resume()
	for range asking {
		if err := <-answers; err != nil {
			t.Errorf("got %v, want the replica's answer", err)
		}
	}
	primaryProxy.Resume()
}

// TestReplicaPutBack has a replica replaced by an older copy of it between two looks of the watcher, as one that crashes and is quickly
// there again is older than it was: it is not read from, although what was there before might be.
func TestReplicaPutBack(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 2)
	newer, older := replication.Replicas[0], replication.Replicas[1]
	older.Pause(t)
	replica := replication.Primary
	replica.URL = newer.URL
	proxy, throughProxy := faultproxy.Start(t, replica)
	cfg := replication.Primary
	cfg.ReplicaURLs, cfg.ReplicaMaxLag = []gormstore.URL{throughProxy.URL}, 4*time.Second
	s := openService(t, cfg) // which creates a user
	time.Sleep(cfg.ReplicaMaxLag)
	eventually(t, "a fresh replica", func() bool { return s.freshReplicas() == 1 })
	proxy.Move(t, older.URL)
	time.Sleep(5 * time.Millisecond) // until the ends of the connections are there
	if _, err := s.users.StaleByName(t.Context(), s.name); err != nil {
		t.Errorf("got %v, want the user who was created longer ago than a replica may be behind", err)
	}
}

// TestFollowerOfFormerPrimary promotes one of two replicas and has the former primary go on, so that what follows it is further in the log
// than the new primary: it is never read from.
func TestFollowerOfFormerPrimary(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 2)
	follower, promoted := replication.Replicas[0], replication.Replicas[1]
	promoted.Promote(t)
	former, err := sql.Open("pgx", string(replication.Primary.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer former.Close() //nolint:errcheck // nothing is pending on it
	exec(t, former, "CREATE TABLE only_here (n int)")
	exec(t, former, "SELECT pg_switch_wal()")
	exec(t, former, "CREATE TABLE here_too (n int)")

	cfg := replication.Primary
	cfg.URL, cfg.ReplicaURLs = promoted.URL, []gormstore.URL{follower.URL}
	s := openService(t, cfg) // which creates a user
	for range 3 {            // the first may have begun before
		follower.WaitForQuestion(t, "pg_last_wal_replay_lsn")
		if _, err := s.users.StaleByName(t.Context(), s.name); err != nil {
			t.Errorf("got %v, want the user whom only the new primary has", err)
		}
	}
}

func (s *service) freshReplicas() (fresh int) {
	for _, one := range s.store.Statistics().Replicas {
		if one.Fresh {
			fresh++
		}
	}
	return fresh
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for a minute, want %s", what)
		}
	}
}
