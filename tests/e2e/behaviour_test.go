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

// databasePaths are paths whose answers need the database, for tests that need any such path.
var databasePaths = []string{"/user/epoxy/exists", "/user/epoxy", "/user/self", "/user/self/pastes", "/data/numPastes"}

func wantStatus(t *testing.T, server *program.Process, path string, status int) (*http.Response, string) {
	t.Helper()
	response, body := exchange(t, server, http.MethodGet, path, authorization(program.EpoxyToken))
	if response.StatusCode != status {
		t.Errorf("%.100s: got %s, want %d: %s", path, response.Status, status, body)
	}
	return response, body
}

// serveThroughProxy serves the fixture from PostgreSQL through a proxy that can break the connections.
func serveThroughProxy(t *testing.T, settings ...string) (*program.Process, *faultproxy.Proxy) {
	t.Helper()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	proxy, cfg := faultproxy.Start(t, cfg)
	return program.Serve(t, cfg.URL, settings...), proxy
}

// slowness is how much longer than its limit something may take on a busy machine.
const slowness = program.Patience

// headersOf returns the headers and the body of an operation's request, with Epoxy's token if it needs one.
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

// TestDatabaseUnreachable sends every operation of the OpenAPI document without a database: those that may answer 503
// do, and the others still work.
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
			server, proxy := serveThroughProxy(t, "GLUEPOT_HTTP_REQUEST_TIMEOUT="+limit.String(), "GLUEPOT_RECENT=true")
			for _, path := range databasePaths {
				wantStatus(t, server, path, http.StatusOK)
			}
			fail(proxy)
			var requests sync.WaitGroup
			for _, o := range contract.Operations() {
				requests.Go(func() {
					start := time.Now()
					response, body := exchange(t, server, o.Method, o.Target, headersOf(o)...)
					if took := time.Since(start); took > limit+slowness {
						t.Errorf("%s %s: got an answer after %v, want it within %v", o.Method, o.Target, took, limit+slowness)
					}
					if o.Documents(http.StatusServiceUnavailable) && (response.StatusCode != http.StatusServiceUnavailable ||
						response.Header.Get("Retry-After") == "" ||
						!strings.Contains(body, `"statusMessage":"The database did not answer in time.`)) {
						t.Errorf("%s %s: got %s with Retry-After %q and %s, want 503 with Retry-After and the reason, "+
							"as openapi.yaml says",
							o.Method, o.Target, response.Status, response.Header.Get("Retry-After"), body)
					}
				})
			}
			requests.Go(func() { wantStatus(t, server, "/readyz", http.StatusServiceUnavailable) })
			requests.Wait()
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
	server, proxy := serveThroughProxy(t, "GLUEPOT_HTTP_REQUEST_TIMEOUT="+limit.String(),
		"GLUEPOT_DATABASE_MAX_CONNECTIONS=2")
	proxy.Stall()
	var requests sync.WaitGroup
	for range 200 {
		requests.Go(func() {
			start := time.Now()
			wantStatus(t, server, "/user/epoxy", http.StatusServiceUnavailable)
			if took := time.Since(start); took > limit+slowness { // in sequence they would take 100 times the limit
				t.Errorf("got an answer after %v, want it within %v", took, limit+slowness)
			}
		})
	}
	requests.Wait()
}

// TestAbandonedRequests checks that clients that hang up do not cost a database connection each.
func TestAbandonedRequests(t *testing.T) {
	t.Parallel()
	const connections = 4
	server, proxy := serveThroughProxy(t, fmt.Sprintf("GLUEPOT_DATABASE_MAX_CONNECTIONS=%d", connections))
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
			time.Sleep(5 * time.Millisecond) // until it waits for the database
			_ = client.Close()
		}
		time.Sleep(20 * time.Millisecond) // until the server notices
		proxy.Resume()
		wantStatus(t, server, "/user/epoxy", http.StatusOK)
	}
	// The start opens three more: one for readiness, and two for the migrations.
	if opened := proxy.Opened(); opened > connections+3 {
		t.Errorf("got %d connections, want at most %d: the pool has %d", opened, connections+3, connections)
	}
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	server, proxy := serveThroughProxy(t, "GLUEPOT_DATABASE_MAX_CONNECTIONS=1", "GLUEPOT_TOKEN_USE_INTERVAL=1h",
		"GLUEPOT_SWEEP_INTERVAL=0")
	for path, limit := range map[string]int64{
		// One is for the token, and two are for the snapshot.
		"/user/epoxy/exists": 1, "/user/epoxy": 1, "/user/self": 6, "/user/self/pastes": 2,
		"/data/numPastes":        1,
		"/data/language?name=go": 0, "/data/languageExt?extension=go": 0, "/user/-": 0,
	} {
		got := limit + 1
		// The first request prepares statements, and a connection that idled for a second is pinged.
		for range 5 {
			before := proxy.RoundTrips()
			server.Get(path, program.EpoxyToken)
			got = min(got, proxy.RoundTrips()-before)
		}
		if got > limit {
			t.Errorf("%s: got %d round trips, want at most %d", path, got, limit)
		}
	}
}

func TestStopping(t *testing.T) {
	t.Parallel()
	server, proxy := serveThroughProxy(t,
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
		return response.Close // a draining server closes connections
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

// stallRequest makes a request that waits for the database. It returns a channel for its status, or for 0 if it fails.
func stallRequest(t *testing.T, server *program.Process, proxy *faultproxy.Proxy) <-chan int {
	t.Helper()
	proxy.Stall()
	status := make(chan int, 1)
	go func() {
		response, err := server.Client().Get("http://" + server.Address + "/user/epoxy")
		if err != nil {
			status <- 0
			return
		}
		_ = response.Body.Close()
		status <- response.StatusCode
	}()
	program.Eventually(t, "the request waits for the database", func() bool { return proxy.Held() > 0 })
	return status
}

// TestSecondSignal checks that a second signal ends the program at once, although a request waits for the database.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	server, proxy := serveThroughProxy(t, "GLUEPOT_HTTP_REQUEST_TIMEOUT=10m", "GLUEPOT_HTTP_WRITE_TIMEOUT=11m",
		"GLUEPOT_HTTP_DRAIN_TIMEOUT=10m")
	wantStatus(t, server, "/user/epoxy", http.StatusOK)
	stallRequest(t, server, proxy)
	server.Signal(syscall.SIGTERM)
	server.WaitForLog("stopping")
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != -1 {
		t.Errorf("got exit code %d, want -1, of a program that a signal ended", code)
	}
}

// TestRefusedByServer checks that the error is PostgreSQL's refusal of the database, and does not mention TLS.
func TestRefusedByServer(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(database.EmptyPostgres(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/nowhere"
	address.RawQuery = "sslmode=prefer" // as by default
	for _, line := range []string{"stats", "serve", "migrate up", "migrate status"} {
		code, stdout, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + address.String()}, strings.Fields(line)...)
		if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 ||
			!strings.Contains(stderr, `database "nowhere" does not exist`) {
			t.Errorf("%s: got exit code %d, %q, %q, want 1 and one line that says which database does not exist",
				line, code, stdout, stderr)
		}
	}
}

// eachEmpty runs test on an empty PostgreSQL and an empty SQLite database.
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
		server := program.Start(t, []string{url, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
			"GLUEPOT_DATABASE_MIGRATE=false"}, "serve")
		server.WaitForAddress()
		_, body := wantStatus(t, server, "/readyz", http.StatusServiceUnavailable)
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
		wantStatus(t, server, "/readyz", http.StatusOK)
	})
}

// TestNewerDatabase starts on a database that a newer program migrated, which says whether this program may use it.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		url := "GLUEPOT_DATABASE_URL=" + cfg.URL
		server := program.Serve(t, cfg.URL)
		db := database.SQL(t, cfg)
		execute := func(statement string) {
			t.Helper()
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		execute("UPDATE installation SET oldest_version = (SELECT max(version_id) FROM gluepot_versions)")
		execute("INSERT INTO gluepot_versions (version_id, is_applied) VALUES (99999, true)")
		wantStatus(t, server, "/readyz", http.StatusOK)
		for _, migrate := range []string{"true", "false"} {
			second := program.Serve(t, cfg.URL, "GLUEPOT_DATABASE_MIGRATE="+migrate)
			wantStatus(t, second, "/readyz", http.StatusOK)
			wantStatus(t, second, "/data/numPastes", http.StatusOK)
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
		const refusal = "The database is at version 99999, but this program knows only versions up to "
		_, body := wantStatus(t, server, "/readyz", http.StatusServiceUnavailable)
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
			!strings.Contains(stdout, "This program cannot") {
			t.Errorf("status: got exit code %d, %q, want 0 and which versions can use the database", code, stdout)
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
		t.Errorf("got %s, want 0 pastes", body)
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
		t.Error("got the token in the log, want no token")
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
				t.Errorf("%s: got %s, want a status below 500", target, response.Status)
			}
		}
	}
}

// TestStoppingWithoutDatabase checks that a server stops at once if it has no database to wait for.
func TestStoppingWithoutDatabase(t *testing.T) {
	t.Parallel()
	server, proxy := serveThroughProxy(t)
	wantStatus(t, server, "/user/self", http.StatusOK) // to have a use to store
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

// TestHangup checks that the server stops properly when the terminal closes, which may send the signal twice.
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
	if got := countUsedTokens(t, database.SQL(t, cfg)); got != want {
		t.Errorf("got %d tokens with a last-used time, want %d", got, want)
	}
}

// countUsedTokens returns how many tokens have a last-used time.
func countUsedTokens(t *testing.T, db *sql.DB) (tokens int) {
	t.Helper()
	row := db.QueryRow("SELECT count(*) FROM access_tokens WHERE last_used_at IS NOT NULL")
	if err := row.Scan(&tokens); err != nil {
		t.Fatal(err)
	}
	return tokens
}

// TestStoppingWhileDatabaseHangs checks that the server logs what it could not store, and does not wait for it.
func TestStoppingWhileDatabaseHangs(t *testing.T) {
	t.Parallel()
	server, proxy := serveThroughProxy(t, "GLUEPOT_TOKEN_USE_INTERVAL=1h", "GLUEPOT_SWEEP_INTERVAL=50ms")
	wantStatus(t, server, "/user/self", http.StatusOK) // to have a use to store
	proxy.Stall()
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	line := server.WaitForLog("the stop was incomplete")
	if text, _ := line["error"].(string); !strings.Contains(text, "the last-used times of 1 tokens are lost") {
		t.Errorf("got %v, want the error to say that the last-used time of 1 token is lost", line)
	}
}

// TestStoppingCutsOff checks that the server stops in time and successfully, although a request does not end.
func TestStoppingCutsOff(t *testing.T) {
	t.Parallel()
	server, proxy := serveThroughProxy(t, "GLUEPOT_HTTP_REQUEST_TIMEOUT=25s", "GLUEPOT_HTTP_DRAIN_TIMEOUT=1s")
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

// TestUnstoredUses checks that uses of tokens are kept while the database is down, and that the log says so.
func TestUnstoredUses(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	proxy, through := faultproxy.Start(t, cfg)
	server := program.Serve(t, through.URL, "GLUEPOT_TOKEN_USE_INTERVAL=1s")
	wantStatus(t, server, "/user/self", http.StatusOK)
	const message = "last-used times are not stored yet"
	// On a busy machine a use may be stored before the database is down. Then another one is needed.
	program.Eventually(t, "a use that cannot be stored", func() bool {
		proxy.Resume()
		server.Get("/user/self", program.EpoxyToken)
		proxy.Refuse()
		for range 25 {
			if slices.ContainsFunc(server.Log(), func(line map[string]any) bool { return line["msg"] == message }) {
				return true
			}
			time.Sleep(100 * time.Millisecond)
		}
		return false
	})
	if line := server.WaitForLog(message); line["tokens"] != float64(1) || line["level"] != "warn" {
		t.Errorf("got %v, want a warning about 1 token", line)
	}
	proxy.Resume()
	db := database.SQL(t, cfg)
	program.Eventually(t, "the use is stored", func() bool { return countUsedTokens(t, db) == 1 })
}

// TestLastUsed checks that a stopping server stores last-used times.
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

// TestSweeping checks that expired pastes are removed in the background.
func TestSweeping(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		program.Serve(t, cfg.URL, "GLUEPOT_SWEEP_INTERVAL=50ms")
		db := database.SQL(t, cfg)
		program.Eventually(t, "the expired paste is removed", func() bool {
			var rows int
			if err := db.QueryRow("SELECT count(*) FROM pastes WHERE id = 'expired1'").Scan(&rows); err != nil {
				t.Fatal(err)
			}
			return rows == 0
		})
	})
}
