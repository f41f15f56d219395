package metrics

import (
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/stats"
)

func figures(t *testing.T, m *Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("got %d: %s, want 200", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func wantLines(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("got\n%s\nwant the line %q", text, line)
		}
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	m := New("v1.2.3", []string{"requests", "others"}, func() Snapshot { return Snapshot{} })
	for _, status := range []int{200, 200, 404} {
		m.Begin("GET", "/user/:username")(status)
	}
	m.Begin("GET", "/user/:username")
	m.Limited("requests")
	const profiles = `http_request_method="GET",http_response_status_code=`
	wantLines(t, figures(t, m),
		`http_server_request_duration_seconds_count{`+profiles+`"200",http_route="/user/:username"} 2`,
		`http_server_request_duration_seconds_bucket{`+profiles+`"200",http_route="/user/:username",le="10"} 2`,
		`http_server_request_duration_seconds_count{`+profiles+`"404",http_route="/user/:username"} 1`,
		`http_server_active_requests{http_request_method="GET"} 1`,
		`gluepot_requests_limited_total{limit="requests"} 1`, `gluepot_requests_limited_total{limit="others"} 0`,
		`gluepot_build_info{version="v1.2.3"} 1`)
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	ready := false // as at the start
	m := New("", nil, func() Snapshot {
		if !ready {
			return Snapshot{}
		}
		return Snapshot{
			PastesCreated: 7, PastesSwept: 6, FailedSweeps: 5, RejectedSignIns: 4, PendingUses: 3,
			Totals: stats.Totals{
				Counts:      stats.Counts{Users: 21, Tokens: 22, ActivePastes: 23, ExpiredPastes: 24},
				Bytes:       stats.Bytes{ContentBytes: 25, HistoryBytes: 26, DatabaseBytes: 27},
				OpenReports: 32,
				Largest:     []stats.Holder{{Username: "mia", Bytes: 28}}, Days: []stats.Day{{Pastes: 29}, {Pastes: 30}},
			},
			StoreMaxBytes: 31,
			Connections: sql.DBStats{MaxOpenConnections: 8, InUse: 2, Idle: 1, WaitCount: 9,
				WaitDuration: 1500 * time.Millisecond},
		}
	})
	wantLines(t, figures(t, m), "gluepot_pastes_created_total 0")
	ready = true
	text := figures(t, m)
	if strings.Contains(text, "mia") {
		t.Error("got the name of a user, want none")
	}
	wantLines(t, text,
		"gluepot_users 21", "gluepot_tokens 22", `gluepot_pastes{state="active"} 23`, `gluepot_pastes{state="expired"} 24`,
		`gluepot_stored_bytes{kind="content"} 25`, `gluepot_stored_bytes{kind="history"} 26`,
		`gluepot_stored_bytes{kind="database"} 27`,
		`gluepot_largest_users_bytes{rank="1"} 28`, `gluepot_pastes_created_by_day{days_ago="1"} 30`,
		"gluepot_stored_bytes_limit 31", "gluepot_open_reports 32",
		"gluepot_pastes_created_total 7", "gluepot_pastes_swept_total 6", "gluepot_sweeps_failed_total 5",
		"gluepot_sign_ins_rejected_total 4", "gluepot_token_uses_pending 3",
		"db_client_connection_max 8", `db_client_connection_count{db_client_connection_state="used"} 2`,
		`db_client_connection_count{db_client_connection_state="idle"} 1`, "db_client_connection_waits_total 9",
		"db_client_connection_wait_seconds_total 1.5")
}

func TestListen(t *testing.T) {
	t.Parallel()
	server, err := Listen(t.Context(), "127.0.0.1:0", New("", nil, func() Snapshot {
		return Snapshot{}
	}).Handler(), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/metrics": 200, "/debug/pprof/": 200, "/debug/pprof/heap": 200, "/debug/pprof/goroutine?debug=1": 200, "/": 404,
	} {
		answer, err := http.Get("http://" + server.Addr + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: got %d, want %d", path, answer.StatusCode, want)
		}
	}
	_, err = Listen(t.Context(), server.Addr, http.NotFoundHandler(), zap.NewNop())
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("an address that is taken: got %v, want %v", err, fault.Unavailable)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

// TestPagesAreRefused checks that requests from web pages are refused, and that the command line is not served.
func TestPagesAreRefused(t *testing.T) {
	t.Parallel()
	handler := New("", nil, func() Snapshot { return Snapshot{} }).Handler()
	for _, c := range []struct {
		what, path, host, site string
		private, local         int // on a private network, on loopback
		origin                 string
	}{
		{"a scraper", "/metrics", "127.0.0.1:9090", "", 200, 200, ""},
		{"a scraper by IPv6", "/metrics", "[::1]:9090", "", 200, 200, ""},
		{"HTTP/1.0", "/metrics", "", "", 200, 200, ""},
		{"a name of this machine", "/metrics", "LocalHost:9090", "", 200, 200, ""},
		{"a person", "/debug/pprof/", "localhost", "none", 200, 200, ""},
		{"a link on such a page", "/debug/pprof/heap", "localhost", "same-origin", 200, 200, ""},
		{"another name", "/metrics", "gluepot.internal:9090", "", 200, 403, ""},
		{"a page of another site", "/debug/pprof/heap", "127.0.0.1:9090", "cross-site", 403, 403, ""},
		{"a page of the same site", "/debug/pprof/heap", "localhost:9090", "same-site", 403, 403, ""},
		{"arguments", "/debug/pprof/cmdline", "localhost", "", 404, 404, ""},
		{"a page of another origin", "/metrics", "127.0.0.1:9090", "", 403, 403, "http://page.example"},
		{"a page of no origin", "/metrics", "127.0.0.1:9090", "", 403, 403, "null"},
		{"a page of another port", "/metrics", "127.0.0.1:9090", "", 403, 403, "http://127.0.0.1:8080"},
		{"a page of its own", "/metrics", "127.0.0.1:9090", "", 200, 200, "http://127.0.0.1:9090"},
	} {
		for loopback, want := range map[bool]int{false: c.private, true: c.local} {
			request := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
			request.Host = c.host
			if c.site != "" {
				request.Header.Set("Sec-Fetch-Site", c.site)
			}
			if c.origin != "" {
				request.Header.Set("Origin", c.origin)
			}
			answer := httptest.NewRecorder()
			if notForPages(loopback, handler).ServeHTTP(answer, request); answer.Code != want {
				t.Errorf("%s, on loopback %t: got %d, want %d", c.what, loopback, answer.Code, want)
			}
		}
	}
	server, err := Listen(t.Context(), "127.0.0.1:0", handler, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.Addr+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "page.example"
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
		t.Errorf("a rebound name: got %d, want %d", answer.StatusCode, http.StatusForbidden)
	}
}

func BenchmarkRequest(b *testing.B) {
	m := New("", nil, func() Snapshot { return Snapshot{} })
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Begin("GET", "/user/:username")(200)
		}
	})
}
