package integration

import (
	"context"
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
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		fresh := 0
		for _, one := range s.store.Statistics().Replicas {
			if one.Fresh {
				fresh++
			}
		}
		if _, err := s.users.StaleByName(t.Context(), s.name); err == nil && fresh == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %d fresh replicas after a minute, want 2", fresh)
		}
	}
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
