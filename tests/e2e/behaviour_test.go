package e2e

import (
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
	"github.com/gluepot/gluepot/tests/openapi"
	"github.com/gluepot/gluepot/tests/program"
)

// databasePaths are some that ask the database, for tests to which it does not matter which.
var databasePaths = []string{"/user/epoxy/exists", "/user/epoxy", "/user/self", "/user/self/pastes", "/data/numPastes"}

func wantStatus(t *testing.T, server *program.Process, path string, status int) (*http.Response, string) {
	t.Helper()
	response, body := exchange(t, server, http.MethodGet, path, authorization(program.EpoxyToken))
	if response.StatusCode != status {
		t.Errorf("%.100s: got %s, want %d: %s", path, response.Status, status, body)
	}
	return response, body
}

// throughProxy serves a filled PostgreSQL database that can be made to fail.
func throughProxy(t *testing.T, settings ...string) (*program.Process, *faultproxy.Proxy) {
	t.Helper()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	proxy, cfg := faultproxy.Start(t, cfg)
	return program.Serve(t, cfg.URL, settings...), proxy
}

// slowness is how much longer than its limit something may take on a machine that is busy.
const slowness = program.Patience

// headersOf returns the headers and the body of an operation's request, by Epoxy if it has a token.
func headersOf(o openapi.Operation) []string {
	headers := slices.Clone(o.Headers)
	if o.Token {
		headers = append(headers, owner)
	}
	if o.Body != "" {
		headers = append(headers, "\n"+o.Body)
	}
	return headers
}

// TestDatabaseUnreachable sends every operation of the document: those that may answer 503 do, and the others still
// work.
func TestDatabaseUnreachable(t *testing.T) {
	t.Parallel()
	contract, err := openapi.Shared()
	if err != nil {
		t.Fatal(err)
	}
	const limit = 5 * time.Second
	for name, fail := range map[string]func(*faultproxy.Proxy){"down": (*faultproxy.Proxy).Refuse,
		"hanging": (*faultproxy.Proxy).Stall} {
		t.Run(name, func(t *testing.T) {
			server, proxy := throughProxy(t, "GLUEPOT_HTTP_REQUEST_TIMEOUT="+limit.String(), "GLUEPOT_RECENT=true")
			for _, path := range databasePaths {
				wantStatus(t, server, path, http.StatusOK)
			}
			fail(proxy)
			var waiting sync.WaitGroup
			for _, o := range contract.Operations() {
				waiting.Go(func() {
					started := time.Now()
					response, body := exchange(t, server, o.Method, o.Target, headersOf(o)...)
					if took := time.Since(started); took > limit+slowness {
						t.Errorf("%s %s: got an answer after %v, want it within %v", o.Method, o.Target, took, limit+slowness)
					}
					if o.Documents(http.StatusServiceUnavailable) && (response.StatusCode != http.StatusServiceUnavailable ||
						response.Header.Get("Retry-After") == "" ||
						!strings.Contains(body, `"statusMessage":"The database did not answer in time.`)) {
						t.Errorf("%s %s: got %s with Retry-After %q and %s, want 503, which openapi.yaml has, "+
							"that says when to try again, and why",
							o.Method, o.Target, response.Status, response.Header.Get("Retry-After"), body)
					}
				})
			}
			waiting.Go(func() { wantStatus(t, server, "/readyz", http.StatusServiceUnavailable) })
			waiting.Wait()
			wantStatus(t, server, "/healthz", http.StatusOK)
			proxy.Resume()
			program.Eventually(t, "the server is ready again", func() bool {
				status, _ := server.Get("/readyz", "")
				return status == http.StatusOK
			})
			for _, path := range databasePaths {
				wantStatus(t, server, path, http.StatusOK)
			}
		})
	}
}

func TestOverload(t *testing.T) {
	t.Parallel()
	const limit = time.Second
	server, proxy := throughProxy(t, "GLUEPOT_HTTP_REQUEST_TIMEOUT="+limit.String(), "GLUEPOT_DATABASE_MAX_CONNECTIONS=2")
	proxy.Stall()
	var waiting sync.WaitGroup
	for range 200 {
		waiting.Go(func() {
			started := time.Now()
			wantStatus(t, server, "/user/epoxy", http.StatusServiceUnavailable)
			if took := time.Since(started); took > limit+slowness { // one after the other, they would take 100 times the limit
				t.Errorf("got an answer after %v, want it within %v", took, limit+slowness)
			}
		})
	}
	waiting.Wait()
}

// Clients that hang up must not cost a connection to the database each.
func TestAbandonedRequests(t *testing.T) {
	t.Parallel()
	const connections = 4
	server, proxy := throughProxy(t, fmt.Sprintf("GLUEPOT_DATABASE_MAX_CONNECTIONS=%d", connections))
	for range 10 {
		proxy.Stall()
		for _, path := range databasePaths {
			client, err := net.Dial("tcp", server.Address)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(client, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", path,
				authorization(program.EpoxyToken)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond) // it is waiting for the database
			_ = client.Close()
		}
		time.Sleep(20 * time.Millisecond) // the server has noticed
		proxy.Resume()
		wantStatus(t, server, "/user/epoxy", http.StatusOK)
	}
	// Three more belong to the start: readiness has one, and the migrations take connections of their own.
	if opened := proxy.Opened(); opened > connections+3 {
		t.Errorf("got %d connections opened, want at most %d: the pool has %d", opened, connections+3, connections)
	}
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	server, proxy := throughProxy(t, "GLUEPOT_DATABASE_MAX_CONNECTIONS=1", "GLUEPOT_TOKEN_USE_INTERVAL=1h",
		"GLUEPOT_SWEEP_INTERVAL=0")
	for path, most := range map[string]int64{
		// one is for the token, two are for one instant
		"/user/epoxy/exists": 1, "/user/epoxy": 1, "/user/self": 6, "/user/self/pastes": 2,
		"/data/numPastes":        1,
		"/data/language?name=go": 0, "/data/languageExt?extension=go": 0, "/user/-": 0,
	} {
		got := most + 1
		// the first time prepares statements, and a connection that has idled for a second is asked whether it lives
		for range 5 {
			before := proxy.RoundTrips()
			server.Get(path, program.EpoxyToken)
			got = min(got, proxy.RoundTrips()-before)
		}
		if got > most {
			t.Errorf("%s took %d round trips, want at most %d", path, got, most)
		}
	}
}

func TestStopping(t *testing.T) {
	t.Parallel()
	server, proxy := throughProxy(t,
		"GLUEPOT_HTTP_DRAIN_DELAY=10s", "GLUEPOT_HTTP_REQUEST_TIMEOUT=1m", "GLUEPOT_HTTP_DRAIN_TIMEOUT=1m")
	wantStatus(t, server, "/user/epoxy", http.StatusOK)
	inFlight := stallRequest(t, server, proxy)
	server.Signal(syscall.SIGTERM)
	program.Eventually(t, "the server is draining", func() bool {
		response, err := server.Client().Get("http://" + server.Address + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.Close // a server that drains says so in every answer
	})
	if _, body := wantStatus(t, server, "/readyz", http.StatusServiceUnavailable); !strings.Contains(body,
		"shutting down") {
		t.Errorf("readiness: got %s, want it to say that the server is shutting down", body)
	}
	wantStatus(t, server, "/healthz", http.StatusOK)
	program.Eventually(t, "the server takes no more connections", func() bool {
		connection, err := net.DialTimeout("tcp", server.Address, time.Second)
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	})
	proxy.Resume()
	if status := <-inFlight; status != http.StatusOK {
		t.Errorf("the request in flight: got status %d, want 200", status)
	}
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	server.WaitForLog("stopped")
}

// stallRequest makes a request that waits for the database, and returns where its status comes, or 0 if it fails.
func stallRequest(t *testing.T, server *program.Process, proxy *faultproxy.Proxy) <-chan int {
	t.Helper()
	proxy.Stall()
	answered := make(chan int, 1)
	go func() {
		response, err := server.Client().Get("http://" + server.Address + "/user/epoxy")
		if err != nil {
			answered <- 0
			return
		}
		_ = response.Body.Close()
		answered <- response.StatusCode
	}()
	program.Eventually(t, "the request waits for the database", func() bool { return proxy.Held() > 0 })
	return answered
}

// TestSecondSignal checks that a second signal ends the program at once, although a request waits for the database.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	server, proxy := throughProxy(t, "GLUEPOT_HTTP_REQUEST_TIMEOUT=10m", "GLUEPOT_HTTP_WRITE_TIMEOUT=11m",
		"GLUEPOT_HTTP_DRAIN_TIMEOUT=10m")
	wantStatus(t, server, "/user/epoxy", http.StatusOK)
	stallRequest(t, server, proxy)
	server.Signal(syscall.SIGTERM)
	server.WaitForLog("stopping")
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != -1 {
		t.Errorf("got exit code %d, want the signal to end it", code)
	}
}

// TestRefusedByServer checks that the error gives PostgreSQL's objection to the user, without a word about missing TLS.
func TestRefusedByServer(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(database.EmptyPostgres(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/nowhere"
	address.RawQuery = "sslmode=prefer" // as without any
	for _, line := range []string{"stats", "serve", "migrate up", "migrate status"} {
		code, stdout, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + address.String()}, strings.Fields(line)...)
		if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 ||
			!strings.Contains(stderr, `database "nowhere" does not exist`) {
			t.Errorf("%s: got exit code %d, %q, %q, want 1 and one line that says which database does not exist",
				line, code, stdout, stderr)
		}
	}
}

// eachEmpty runs test on a database without tables, of both kinds.
func eachEmpty(t *testing.T, test func(*testing.T, gormstore.Config)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, database.EmptyPostgres(t)) })
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, database.EmptySQLite(t)) })
}

func TestManyNodesStartAtOnce(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, cfg gormstore.Config) {
		nodes := make([]*program.Process, 4)
		for i := range nodes {
			nodes[i] = program.Start(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
				"GLUEPOT_HTTP_DRAIN_DELAY=0s"}, "serve")
		}
		for _, node := range nodes {
			node.WaitForAddress()
			wantStatus(t, node, "/readyz", http.StatusOK)
		}
	})
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, cfg gormstore.Config) {
		url := "GLUEPOT_DATABASE_URL=" + cfg.URL
		if strings.HasPrefix(cfg.URL, "sqlite:") {
			if err := os.WriteFile(database.SQLitePath(cfg), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		unmigrated := program.Start(t, []string{url, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
			"GLUEPOT_DATABASE_MIGRATE=false"}, "serve")
		unmigrated.WaitForAddress()
		_, body := wantStatus(t, unmigrated, "/readyz", http.StatusServiceUnavailable)
		if !strings.Contains(body, "Run 'gluepot migrate up'") {
			t.Errorf("got %s, want it to name 'gluepot migrate up'", body)
		}
		for _, step := range []struct{ command, part string }{
			{"status", "pending"}, {"status", "at version 0"}, {"up", "up to date, at version"},
			{"up", "up to date, at version"},
			{"status", "applied"},
		} {
			if code, stdout, stderr := program.Run(t, []string{url}, "migrate", step.command); code != 0 ||
				!strings.Contains(stdout, step.part) {
				t.Fatalf("%s: got exit code %d, %q, %q, want 0 and %q", step.command, code, stdout, stderr, step.part)
			}
		}
		wantStatus(t, unmigrated, "/readyz", http.StatusOK)
	})
}

// TestNewerDatabase starts on a database that a newer program has migrated. The database says whether this program may
// use it.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		url := "GLUEPOT_DATABASE_URL=" + cfg.URL
		running := program.Serve(t, cfg.URL)
		db := database.SQL(t, cfg)
		execute := func(statement string) {
			t.Helper()
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		execute("UPDATE installation SET oldest_version = (SELECT max(version_id) FROM gluepot_versions)")
		execute("INSERT INTO gluepot_versions (version_id, is_applied) VALUES (99999, true)")
		wantStatus(t, running, "/readyz", http.StatusOK)
		for _, migrate := range []string{"true", "false"} {
			restarted := program.Serve(t, cfg.URL, "GLUEPOT_DATABASE_MIGRATE="+migrate)
			wantStatus(t, restarted, "/readyz", http.StatusOK)
			wantStatus(t, restarted, "/data/numPastes", http.StatusOK)
		}
		for command, part := range map[string]string{
			"migrate up": "up to date", "migrate status": "The database is at version 99999", "stats": "0",
			"user create epoxy": "epoxy",
		} {
			if code, stdout, stderr := program.Run(t, []string{url}, strings.Fields(command)...); code != 0 ||
				!strings.Contains(stdout, part) {
				t.Errorf("%s: got exit code %d, %q, %q, want 0 and %q", command, code, stdout, stderr, part)
			}
		}

		execute("UPDATE installation SET oldest_version = 99999")
		const refusal = "The database is at version 99999, but this program knows versions up to "
		_, body := wantStatus(t, running, "/readyz", http.StatusServiceUnavailable)
		if !strings.Contains(body, refusal) {
			t.Errorf("got %s, want %q in it", body, refusal)
		}
		for _, args := range [][]string{{"serve"}, {"serve", "--database-migrate=false"}, {"migrate", "up"}, {"stats"}} {
			code, _, stderr := program.Run(t, []string{url}, args...)
			if code != 1 || !strings.HasPrefix(stderr, "gluepot: "+refusal) ||
				!strings.HasSuffix(stderr, "Run a newer gluepot.\n") ||
				strings.Count(stderr, "\n") != 1 {
				t.Errorf("%v: got exit code %d, %q, want 1 and one line that begins with %q", args, code, stderr, refusal)
			}
		}
		code, stdout, _ := program.Run(t, []string{url}, "migrate", "status")
		if code != 0 || !strings.Contains(stdout, "know version 99999 or a later one") ||
			!strings.Contains(stdout, "This one cannot") {
			t.Errorf("status: got exit code %d, %q, want 0 and which programs can work with the database", code, stdout)
		}
	})
}

func TestBasePath(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2")
	for path, status := range map[string]int{
		"/api/v2/user/epoxy": 200, "/api/v2/user/self/": 200, "/api/v2/data/language?name=C++": 200,
		"/user/epoxy": 404, "/healthz": 200, "/readyz": 200, "/api/v2/healthz": 404,
	} {
		wantStatus(t, server, path, status)
	}
}

func TestEmptyByDefault(t *testing.T) {
	t.Parallel()
	server := program.Start(t, []string{"GLUEPOT_HTTP_ADDR=127.0.0.1:0"}, "serve")
	server.WaitForAddress()
	if _, body := wantStatus(t, server, "/data/numPastes", http.StatusOK); body != `{"numPastes":0}` {
		t.Errorf("got %s, want no paste", body)
	}
	if _, err := os.Stat(filepath.Join(server.Cmd.Dir, "data", "gluepot.db")); err != nil {
		t.Error(err)
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL, trustTests)
	exchange(t, server, http.MethodGet, "/user/self?token="+program.EpoxyToken,
		authorization("Bearer "+program.EpoxyToken))
	line := server.WaitForLog("request")
	if line["request_id"] != "golden" || line["route"] != "/user/self" || line["status"] != float64(200) ||
		line["method"] != "GET" {
		t.Errorf("got %v, want the request id, route, status and method of the request", line)
	}
	if _, ok := line["duration_ms"].(float64); !ok {
		t.Errorf("got %v, want a duration in it", line)
	}
	server.Signal(syscall.SIGTERM)
	server.Wait()
	if strings.Contains(server.Stderr.String(), program.EpoxyToken) {
		t.Error("got the token in the log, want it nowhere")
	}
}

func TestHostileInput(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL)
	for size, status := range map[int]int{15 << 10: http.StatusNotFound,
		24 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		long := strings.Repeat("a", size)
		for _, path := range []string{"/data/language?name=" + long, "/data/languageExt?extension=" + long, "/user/" + long,
			"/user/" + long + "/exists"} {
			wantStatus(t, server, path, status)
		}
	}
	for b := range 256 {
		for _, path := range []string{"/user/%%%02x", "/data/language?name=%%%02x", "/data/languageExt?extension=%%%02x"} {
			target := fmt.Sprintf(path, b)
			response, _ := exchange(t, server, http.MethodGet, target)
			if response.StatusCode >= http.StatusInternalServerError {
				t.Errorf("%s: got %s, want no failure of the server", target, response.Status)
			}
		}
	}
}

// TestStoppingWithoutDatabase checks that a server stops at once if it has no database to wait for.
func TestStoppingWithoutDatabase(t *testing.T) {
	t.Parallel()
	server, proxy := throughProxy(t)
	wantStatus(t, server, "/user/self", http.StatusOK) // a use to store
	proxy.Refuse()
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
}

// TestUseWhileDraining checks that the uses of tokens by the last requests are stored.
func TestUseWhileDraining(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		server := program.Serve(t, cfg.URL, "GLUEPOT_TOKEN_USE_INTERVAL=1h", "GLUEPOT_HTTP_DRAIN_DELAY=10s")
		server.Signal(syscall.SIGTERM)
		program.Eventually(t, "readiness fails", func() bool {
			status, _ := server.Get("/readyz", "")
			return status == http.StatusServiceUnavailable
		})
		wantStatus(t, server, "/user/self", http.StatusOK)
		if code := server.Wait(); code != 0 {
			t.Errorf("got exit code %d, want 0", code)
		}
		wantUsed(t, cfg, 1)
	})
}

// TestHangup checks that the server stops in order when the terminal closes, which may send the signal twice.
func TestHangup(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL, "GLUEPOT_TOKEN_USE_INTERVAL=1h", "GLUEPOT_HTTP_DRAIN_DELAY=10s")
	wantStatus(t, server, "/user/self", http.StatusOK)
	server.Signal(syscall.SIGHUP)
	server.WaitForLog("stopping")
	server.Signal(syscall.SIGHUP)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	wantUsed(t, cfg, 1)
}

// wantUsed checks how many tokens have a last-used time.
func wantUsed(t *testing.T, cfg gormstore.Config, want int) {
	t.Helper()
	if got := used(t, database.SQL(t, cfg)); got != want {
		t.Errorf("got %d tokens with a last use, want %d", got, want)
	}
}

// used returns how many tokens have a last use.
func used(t *testing.T, db *sql.DB) (tokens int) {
	t.Helper()
	row := db.QueryRow("SELECT count(*) FROM access_tokens WHERE last_used_at IS NOT NULL")
	if err := row.Scan(&tokens); err != nil {
		t.Fatal(err)
	}
	return tokens
}

// TestStoppingWhileDatabaseHangs checks that the server says what it could not store, and does not wait for it.
func TestStoppingWhileDatabaseHangs(t *testing.T) {
	t.Parallel()
	server, proxy := throughProxy(t, "GLUEPOT_TOKEN_USE_INTERVAL=1h", "GLUEPOT_SWEEP_INTERVAL=50ms")
	wantStatus(t, server, "/user/self", http.StatusOK) // a use to store
	proxy.Stall()
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	undone := server.WaitForLog("the stop was incomplete")
	if text, _ := undone["error"].(string); !strings.Contains(text, "the last-used times of 1 tokens are lost") {
		t.Errorf("got %v, want it to say that the last-used times of 1 token are lost", undone)
	}
}

// TestStoppingCutsOff checks that a stop ends in time and succeeds, although a request does not end.
func TestStoppingCutsOff(t *testing.T) {
	t.Parallel()
	server, proxy := throughProxy(t, "GLUEPOT_HTTP_REQUEST_TIMEOUT=25s", "GLUEPOT_HTTP_DRAIN_TIMEOUT=1s")
	wantStatus(t, server, "/user/epoxy", http.StatusOK)
	proxy.Drop()
	before := proxy.RoundTrips()
	go func() {
		if response, err := server.Client().Get("http://" + server.Address + "/user/epoxy"); err == nil {
			_ = response.Body.Close()
		}
	}()
	program.Eventually(t, "the request waits for the database", func() bool { return proxy.RoundTrips() > before })
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	server.WaitForLog("requests were still in flight at the end of the drain timeout and were cut off")
	server.WaitForLog("stopped")
}

// TestUnstoredUses checks that uses of tokens are kept while the database is away, and that the log says so.
func TestUnstoredUses(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	proxy, through := faultproxy.Start(t, cfg)
	server := program.Serve(t, through.URL, "GLUEPOT_TOKEN_USE_INTERVAL=1s")
	wantStatus(t, server, "/user/self", http.StatusOK)
	const unstored = "last-used times are not stored yet"
	// On a machine that is busy, a use may be stored before the database is away: then there has to be another one.
	program.Eventually(t, "a use that cannot be stored", func() bool {
		proxy.Resume()
		server.Get("/user/self", program.EpoxyToken)
		proxy.Refuse()
		for range 25 {
			if slices.ContainsFunc(server.Log(), func(line map[string]any) bool { return line["msg"] == unstored }) {
				return true
			}
			time.Sleep(100 * time.Millisecond)
		}
		return false
	})
	if line := server.WaitForLog(unstored); line["tokens"] != float64(1) || line["level"] != "warn" {
		t.Errorf("got %v, want a warning about 1 token", line)
	}
	proxy.Resume()
	db := database.SQL(t, cfg)
	program.Eventually(t, "the use is stored", func() bool { return used(t, db) == 1 })
}

// TestLastUsed checks that the time of use is stored in the background, and once more at the end.
func TestLastUsed(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		server := program.Serve(t, cfg.URL, "GLUEPOT_TOKEN_USE_INTERVAL=1h")
		wantStatus(t, server, "/user/self", http.StatusOK)
		server.Signal(syscall.SIGTERM)
		server.Wait()
		wantUsed(t, cfg, 1)
	})
}

// TestSweeping checks that expired pastes are removed in the background, and that the count is right before and after.
func TestSweeping(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		program.Serve(t, cfg.URL, "GLUEPOT_SWEEP_INTERVAL=50ms")
		db := database.SQL(t, cfg)
		program.Eventually(t, "the expired paste is removed", func() bool {
			var remaining int
			if err := db.QueryRow("SELECT count(*) FROM pastes WHERE id = 'expired1'").Scan(&remaining); err != nil {
				t.Fatal(err)
			}
			return remaining == 0
		})
	})
}
