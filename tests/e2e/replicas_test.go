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

// TestReplicas runs three nodes on a primary, which read profiles from two streaming replicas. It kills one of these
// under load, and then holds the other back: no wrong answer and no 5xx, what is missing on a replica is found, and
// nothing else is old.
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
	gluepot := func(line string) string {
		t.Helper()
		code, stdout, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + url}, strings.Fields(line)...)
		if code != 0 {
			t.Fatalf("%s: got exit code %d, want 0: %s", line, code, stderr)
		}
		return strings.TrimSpace(stdout)
	}
	onReplica := make([]*sql.DB, len(replication.Replicas))
	for i, replica := range replication.Replicas {
		cfg := replication.Primary
		cfg.URL = replica.URL
		onReplica[i] = database.SQL(t, cfg)
	}
	reads := func(replica int) (scans int64) {
		t.Helper()
		const query = "SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE relname = 'users'"
		if err := onReplica[replica].QueryRow(query).Scan(&scans); err != nil {
			t.Fatal(err)
		}
		return scans
	}

	// Load on all nodes; a replica dies in the middle of it.
	var (
		load    sync.WaitGroup
		answers atomic.Int64
		ended   = make(chan struct{})
		end     = sync.OnceFunc(func() { close(ended); load.Wait() })
	)
	defer end()
	for _, node := range nodes {
		for range 4 {
			load.Go(func() {
				for {
					select {
					case <-ended:
						return
					case <-time.After(10 * time.Millisecond): // enough are under way when the replica dies
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
	program.Eventually(t, "both replicas are asked", func() bool { return reads(0) > 0 && reads(1) > 0 })
	replication.Replicas[0].Kill()
	killed := answers.Load()
	program.Eventually(t, "a thousand answers without the replica", func() bool { return answers.Load() > killed+1000 })
	end()
	t.Logf("%d answers, one replica killed in between", answers.Load())

	// The other replica stands still. Who is new there is found on every node, and a revoked token is refused at once.
	replication.Replicas[1].Pause(t)
	secret := gluepot("token issue putty")
	secret = secret[strings.LastIndexByte(secret, '\n')+1:]
	for _, node := range nodes {
		if status, body := node.Get("/user/self", secret); status != http.StatusOK {
			t.Errorf("a new token: got %d %s, want 200", status, body)
		}
	}
	gluepot("user create newcomer --public")
	gluepot("paste create")
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
		return onReplica[1].QueryRow("SELECT count(*) FROM access_tokens WHERE user_id = 'putty001'").Scan(&n) == nil &&
			n == 1
	})
	replication.Replicas[1].Pause(t)
	gluepot("token revoke " + id)
	for _, node := range nodes {
		for _, path := range []string{"/user/self", "/user/self/pastes"} {
			if status, body := node.Get(path, secret); status != http.StatusUnauthorized {
				t.Errorf("a revoked token: got %d %s, want 401", status, body)
			}
		}
	}
	gluepot("user update epoxy --default-lang Rust")
	program.Eventually(t, "a replica that lags is not read from", func() bool {
		for _, node := range nodes {
			if _, body := node.Get("/user/epoxy", ""); !strings.Contains(body, `"defaultLang":"Rust"`) {
				return false
			}
		}
		return true
	})
	// The primary lives, and the replica hears nothing of it any more.
	replication.Replicas[1].Resume(t)
	program.Eventually(t, "the replica has the change", func() bool {
		var language string
		return onReplica[1].QueryRow("SELECT default_language FROM users WHERE username = 'Epoxy'").Scan(&language) == nil &&
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
		if _, err := onReplica[1].Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	program.Eventually(t, "the replica is cut off", func() bool {
		n := 1
		return onReplica[1].QueryRow("SELECT count(*) FROM pg_stat_wal_receiver").Scan(&n) == nil && n == 0
	})
	gluepot("user update epoxy --default-lang Python")
	program.Eventually(t, "a replica that is cut off is not read from", func() bool {
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
				t.Errorf("node %d: got %v, want no failure of the server", i, line)
			}
		}
	}
}
