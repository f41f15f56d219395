package e2e

import (
	"database/sql"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestReplicas runs three nodes on a primary, which read profiles from two streaming replicas. It kills one replica
// under load, and then pauses the other. No answer may be wrong, stale or a 5xx.
func TestReplicas(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 2)
	program.Fixture(t, replication.Primary)
	url := replication.Primary.URL
	nodes := make([]*program.Process, 3)
	for i := range nodes {
		nodes[i] = program.Serve(t, url, "GLUEPOT_DATABASE_READ_URL="+replication.Replicas[i%2].URL,
			"GLUEPOT_SWEEP_INTERVAL=0")
	}
	run := func(line string) string {
		t.Helper()
		code, stdout, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + url}, strings.Fields(line)...)
		if code != 0 {
			t.Fatalf("%s: got exit code %d, want 0: %s", line, code, stderr)
		}
		return strings.TrimSpace(stdout)
	}
	replicaDBs := make([]*sql.DB, len(replication.Replicas))
	for i, replica := range replication.Replicas {
		cfg := replication.Primary
		cfg.URL = replica.URL
		replicaDBs[i] = database.SQL(t, cfg)
	}
	reads := func(replica int) (scans int64) {
		t.Helper()
		const query = "SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE relname = 'users'"
		if err := replicaDBs[replica].QueryRow(query).Scan(&scans); err != nil {
			t.Fatal(err)
		}
		return scans
	}

	// A replica dies while all nodes are under load.
	var (
		load    sync.WaitGroup
		answers atomic.Int64
		done    = make(chan struct{})
		end     = sync.OnceFunc(func() { close(done); load.Wait() })
	)
	defer end()
	for _, node := range nodes {
		for range 4 {
			load.Go(func() {
				for {
					select {
					case <-done:
						return
					case <-time.After(10 * time.Millisecond): // so that enough requests are in flight when the replica dies
					}
					for path, want := range map[string]string{
						"/user/epoxy": `"username":"Epoxy"`, "/user/putty/exists": `""`, "/user/self": `"stars":["nobodys1","oldest01"]`,
						"/user/self/pastes": `["expires1","tie0000b","tie0000a","oldest01"]`, "/data/numPastes": `{"numPastes":5}`,
					} {
						status, body := node.Get(path, program.EpoxyToken)
						if status != http.StatusOK || !strings.Contains(body, want) {
							t.Errorf("%s: got %d %s, want 200 and %s", path, status, body, want)
						}
						answers.Add(1)
					}
					if status, _ := node.Get("/user/nobody", ""); status != http.StatusNotFound {
						t.Errorf("nobody: got %d, want 404", status)
					}
				}
			})
		}
	}
	program.Eventually(t, "both replicas are read from", func() bool { return reads(0) > 0 && reads(1) > 0 })
	replication.Replicas[0].Kill()
	answersBefore := answers.Load()
	program.Eventually(t, "a thousand answers without the replica",
		func() bool { return answers.Load() > answersBefore+1000 })
	end()
	t.Logf("%d answers, one replica killed in between", answers.Load())

	// The other replica is paused. Every node must find a new user and refuse a revoked token at once.
	replication.Replicas[1].Pause(t)
	secret := run("token issue putty")
	secret = secret[strings.LastIndexByte(secret, '\n')+1:]
	for _, node := range nodes {
		if status, body := node.Get("/user/self", secret); status != http.StatusOK {
			t.Errorf("a new token: got %d %s, want 200", status, body)
		}
	}
	run("user create newcomer --public")
	run("paste create")
	for _, node := range nodes {
		if status, body := node.Get("/user/newcomer", ""); status != http.StatusOK {
			t.Errorf("newcomer: got %d %s, want 200", status, body)
		}
		if _, body := node.Get("/data/numPastes", ""); body != `{"numPastes":6}` {
			t.Errorf("got %s, want 6 pastes", body)
		}
	}
	var id string
	const query = "SELECT id FROM access_tokens WHERE user_id = 'putty001'"
	if err := database.SQL(t, replication.Primary).QueryRow(query).Scan(&id); err != nil {
		t.Fatal(err)
	}
	replication.Replicas[1].Resume(t)
	program.Eventually(t, "the replica has the new token", func() bool {
		n := 0
		return replicaDBs[1].QueryRow("SELECT count(*) FROM access_tokens WHERE user_id = 'putty001'").Scan(&n) == nil &&
			n == 1
	})
	replication.Replicas[1].Pause(t)
	run("token revoke " + id)
	for _, node := range nodes {
		for _, path := range []string{"/user/self", "/user/self/pastes"} {
			if status, body := node.Get(path, secret); status != http.StatusUnauthorized {
				t.Errorf("a revoked token: got %d %s, want 401", status, body)
			}
		}
	}
	run("user update epoxy --default-lang Rust")
	program.Eventually(t, "a lagging replica is not read from", func() bool {
		for _, node := range nodes {
			if _, body := node.Get("/user/epoxy", ""); !strings.Contains(body, `"defaultLang":"Rust"`) {
				return false
			}
		}
		return true
	})
	// The primary runs, but the replica is disconnected from it.
	replication.Replicas[1].Resume(t)
	program.Eventually(t, "the replica has the change", func() bool {
		var language string
		return replicaDBs[1].QueryRow("SELECT default_language FROM users WHERE username = 'Epoxy'").Scan(&language) == nil &&
			language == "Rust"
	})
	before := reads(1)
	program.Eventually(t, "the replica is read from again", func() bool {
		for _, node := range nodes {
			node.Get("/user/epoxy", "")
		}
		return reads(1) > before
	})
	for _, statement := range []string{"ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"} {
		if _, err := replicaDBs[1].Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	program.Eventually(t, "the replica is disconnected", func() bool {
		n := 1
		return replicaDBs[1].QueryRow("SELECT count(*) FROM pg_stat_wal_receiver").Scan(&n) == nil && n == 0
	})
	run("user update epoxy --default-lang Python")
	program.Eventually(t, "a disconnected replica is not read from", func() bool {
		for _, node := range nodes {
			if _, body := node.Get("/user/epoxy", ""); !strings.Contains(body, `"defaultLang":"Python"`) {
				return false
			}
		}
		return true
	})
	for i, node := range nodes {
		for _, line := range node.Log() {
			if status, ok := line["status"].(float64); ok && status >= http.StatusInternalServerError {
				t.Errorf("node %d: got %v, want no status above 499", i, line)
			}
		}
	}
}
