package failover

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/dataloader"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/freeport"
	"github.com/gluepot/gluepot/tests/pgbouncer"
	"github.com/gluepot/gluepot/tests/program"
)

// bouncer is PgBouncer before one PostgreSQL server, as one of a cluster's programs.
type bouncer struct {
	pgbouncer.Bouncer

	cluster *cluster
	process *process
}

// newBouncer returns one that is not started, before the server of cfg, for all of its databases.
func newBouncer(t *testing.T, cfg gormstore.Config) *bouncer {
	t.Helper()
	if _, err := exec.LookPath("pgbouncer"); err != nil {
		t.Fatalf("this test needs PgBouncer (Debian: apt-get install pgbouncer): %v", err)
	}
	server, err := url.Parse(cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	return &bouncer{cluster: c, Bouncer: pgbouncer.Bouncer{
		Server: server, Address: freeport.Address(t), Folder: c.folder, Credential: c.credential,
	}}
}

func (b *bouncer) start(t *testing.T) {
	t.Helper()
	path, err := b.Write("../../docs/operations/ha/pgbouncer.ini")
	if err != nil {
		t.Fatal(err)
	}
	b.process = b.cluster.start(t, "pgbouncer", nil, "pgbouncer", path)
}

// through returns a configuration by way of PgBouncer.
func (b *bouncer) through(t *testing.T, cfg gormstore.Config) gormstore.Config {
	t.Helper()
	through, err := b.Through(cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg.URL = through
	return cfg
}

func (b *bouncer) waitUntilItAnswers(t *testing.T) {
	t.Helper()
	within(t, settlingTime, "PgBouncer answers", func() bool {
		store, err := gormstore.New(b.through(t, gormstore.Config{
			URL: b.Server.String(), MaxConnections: 1, ConnectTimeout: time.Second,
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close() //nolint:errcheck // it was only asked
		return store.Connect(t.Context()) == nil
	})
}

// TestPgBouncerContract runs the suites of every port through PgBouncer.
func TestPgBouncerContract(t *testing.T) {
	b := newBouncer(t, database.Postgres(t))
	b.start(t)
	open := func(t *testing.T) contract.DocumentStore {
		t.Helper()
		store := database.Open(t, b.through(t, database.Postgres(t)))
		merged := dataloader.New(store)
		pastes := merged.Pastes(gormstore.NewPastes(store))
		return contract.DocumentStore{
			Store: contract.Store{
				Users: merged.Users(gormstore.NewUsers(store)), Tokens: merged.Tokens(gormstore.NewTokens(store)), Pastes: pastes,
				Identities: gormstore.NewIdentities(store), Stats: gormstore.NewStats(store), Search: gormstore.NewSearch(store),
			},
			Documents: pastes,
		}
	}
	b.waitUntilItAnswers(t)
	contract.Run(t, func(t *testing.T) contract.Store { return open(t).Store })
	contract.RunDocuments(t, open)
}

// TestPgBouncerRestarted kills PgBouncer under load and starts it again, twice, the second time with another password,
// which is in the file that holds the nodes' URL.
func TestPgBouncerRestarted(t *testing.T) {
	server := database.StartBreakable(t)
	program.Fixture(t, server.Config)
	b := newBouncer(t, server.Config)
	b.start(t)
	b.waitUntilItAnswers(t)
	file := filepath.Join(t.TempDir(), "url")
	write := func() {
		t.Helper()
		if err := os.WriteFile(file, []byte(b.through(t, server.Config).URL), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	g := &group{name: "PgBouncer"}
	for range 3 {
		settings := []string{"GLUEPOT_DATABASE_URL_FILE=" + file, "GLUEPOT_DATABASE_MIGRATE=false",
			"GLUEPOT_HTTP_ADDR=127.0.0.1:0"}
		p := program.Start(t, settings, "serve")
		p.WaitForAddress()
		g.nodes = append(g.nodes, p)
	}
	w := watchReadiness(g.nodes)
	defer w.stop()
	w.waitUntilReady(t, time.Now())
	load := startLoad([]*group{g})
	defer load.stop()
	time.Sleep(calm)
	var ready time.Duration
	for _, password := range []string{b.Password(), "another"} {
		b.process.kill()
		for _, node := range g.nodes {
			within(t, settlingTime, "the node notices", func() bool {
				response, err := http.Get("http://" + node.Address + "/readyz")
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				return response.StatusCode == http.StatusServiceUnavailable
			})
		}
		b.Server.User = url.UserPassword(b.Server.User.Username(), password)
		write()
		b.start(t)
		started := time.Now()
		ready = max(ready, w.waitUntilReady(t, started))
		time.Sleep(calm)
	}
	ended := load.end()
	results.add(t, result{
		scenario: "kill -9 of PgBouncer, started again at once, and then with another password", way: g.name,
		ready:   seconds(ready),
		elected: "none", writes: g.without(writing, ended), reads: g.without(reading, ended),
		public: g.without(readingPublic, ended), profiles: g.answers(readingPublic), unavailable: g.unavailable,
		wrong: len(g.wrong), acked: g.acked, lost: load.lost(t, g.nodes[0]),
	})
	if len(g.wrong) > 0 || g.acked == 0 {
		t.Errorf("got %d answers that are neither right nor 503, want none: %s", len(g.wrong),
			strings.Join(g.wrong[:min(len(g.wrong), 5)], "; "))
	}
}
